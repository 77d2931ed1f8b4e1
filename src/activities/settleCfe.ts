import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { Cfe, type RejectionReason } from '../db/entities/Cfe.ts';
import { recordEvent } from '../db/events.ts';
import type { Orm } from '../db/orm.ts';
import { enqueue } from '../db/outbox.ts';
import { formatCfeId } from '../domain/cfeId.ts';
import { canBecome, type FinalStatus } from '../domain/cfeStatus.ts';
import type { CfeType, Environment } from '../domain/cfeTypes.ts';
import { cfeUpdated } from '../domain/webhookEvents.ts';
import { failpoint } from '../failpoints.ts';
import { issueCfeMessage } from '../temporal.ts';

/** A verdict that was stored just now; for the metrics. */
export interface Verdict {
  environment: Environment;
  type: CfeType;
  status: FinalStatus;
  /** From the moment the CFE was taken. */
  seconds: number;
}

/** What storing a verdict needs. */
export interface SettleDeps {
  orm: Orm;
  clock: () => Date;
  outbox: { dispatchSoon(): void };
  onVerdict?: ((verdict: Verdict) => void) | undefined;
}

/**
 * Stores the verdict on a CFE and, in the same transaction, what follows from it: customers' servers and notes that wait for it
 * are told.
 * A CFE that has a verdict keeps it.
 */
export async function settleCfe(
  deps: SettleDeps,
  cfeId: string,
  status: FinalStatus,
  reasons: RejectionReason[],
): Promise<void> {
  const verdict = await deps.orm.em.fork().transactional(async (em) => {
    const cfe = await em.findOneOrFail(Cfe, { id: cfeId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    const stored = await settleLocked(em, cfe, { status, reasons }, deps.clock());
    failpoint('settle.written');
    return stored;
  });
  failpoint('settle.committed');
  tellSettled(deps, verdict);
}

/** `settleCfe` in the open transaction, which holds the lock of the CFE; null where it has its verdict already. */
export async function settleLocked(
  em: EntityManager,
  cfe: Cfe,
  { status, reasons }: { status: FinalStatus; reasons: readonly RejectionReason[] },
  now: Date,
): Promise<Verdict | null> {
  if (!canBecome(cfe.status, status)) return null;
  const from = cfe.status;
  cfe.status = status;
  cfe.rejection = reasons.length > 0 ? [...reasons] : null;
  cfe.stuckReason = null;
  cfe.settledAt = now;
  await recordEvent(em, cfe, cfeUpdated(cfe, from), now);
  for (const note of await em.find(Cfe, { referenceId: cfe.id, status: 'PENDING' })) {
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
  const seconds = (now.getTime() - cfe.createdAt.getTime()) / 1_000;
  return { environment: cfe.environment, type: cfe.type, status, seconds };
}

/** After the commit: what was enqueued goes out at once, and the metrics learn of the verdict. */
export function tellSettled(deps: SettleDeps, verdict: Verdict | null): void {
  if (verdict) deps.onVerdict?.(verdict);
  deps.outbox.dispatchSoon();
}
