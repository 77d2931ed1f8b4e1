import { LockMode } from '@mikro-orm/postgresql';
import { Cfe } from '../../db/entities/Cfe.ts';
import { Sobre } from '../../db/entities/Sobre.ts';
import type { Orm } from '../../db/orm.ts';
import { DEADLINES } from '../../domain/deadlines.ts';

/** A send may begin; or it may not: another attempt has the sobre in hand, or the CFE needs none any more. */
type Begun = { sendingAt: Date; leaveBy: Date } | 'elsewhere' | 'movedOn';

/**
 * Stores that a sobre is about to be sent, provided that it stands as `sobre` was read. Under the lock of the CFE's row
 * an attempt of a worker that was thought lost finds what was decided meanwhile (that the authority has it, that
 * support abandoned it), and nothing goes out.
 */
export async function beginSend(
  { orm, clock }: { orm: Orm; clock: () => Date },
  { id, cfeId: cfeUuid, state }: Pick<Sobre, 'id' | 'cfeId' | 'state'>,
): Promise<Begun> {
  return orm.em.fork().transactional(async (em) => {
    const cfe = await em.findOneOrFail(Cfe, { id: cfeUuid }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (cfe.status !== 'PENDING') return 'movedOn';
    const sendingAt = clock();
    const begun = await em.nativeUpdate(Sobre, { id, state }, { state: 'SENDING', sendingAt });
    if (begun === 0) return 'elsewhere';
    return { sendingAt, leaveBy: new Date(sendingAt.getTime() + DEADLINES.sendLeaves) };
  });
}
