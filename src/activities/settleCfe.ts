import { LockMode } from '@mikro-orm/postgresql';
import { Cfe, type RejectionReason } from '../db/entities/Cfe.ts';
import { recordEvent } from '../db/events.ts';
import type { Orm } from '../db/orm.ts';
import { enqueue } from '../db/outbox.ts';
import { formatCfeId } from '../domain/cfeId.ts';
import { canBecome, type FinalStatus } from '../domain/cfeStatus.ts';
import { cfeUpdated } from '../domain/webhookEvents.ts';
import { issueCfeMessage } from '../temporal.ts';

/**
 * Stores the verdict on a CFE and, in the same transaction, what follows from it: customers' servers and notes that wait for it
 * are told.
 * A CFE that has a verdict keeps it.
 */
export async function settleCfe(
  deps: { orm: Orm; clock: () => Date; outbox: { dispatchSoon(): void } },
  cfeId: string,
  status: FinalStatus,
  reasons: RejectionReason[],
): Promise<void> {
  await deps.orm.em.fork().transactional(async (em) => {
    const cfe = await em.findOneOrFail(Cfe, { id: cfeId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (!canBecome(cfe.status, status)) return;
    const now = deps.clock();
    const from = cfe.status;
    cfe.status = status;
    cfe.rejection = reasons.length > 0 ? reasons : null;
    cfe.stuckReason = null;
    cfe.settledAt = now;
    await recordEvent(em, cfe, cfeUpdated(cfe, from), now);
    for (const note of await em.find(Cfe, { referenceId: cfeId, status: 'PENDING' })) {
      const { id, rut, environment, type, status: noteStatus } = note;
      const start = issueCfeMessage({
        id,
        rut,
        environment,
        type,
        status: noteStatus,
        cfeId: formatCfeId(note),
      });
      enqueue(em, { ...start, signal: 'originalSettled' }, now);
    }
  });
  deps.outbox.dispatchSoon();
}
