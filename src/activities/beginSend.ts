import { LockMode } from '@mikro-orm/postgresql';
import { Cfe } from '../db/entities/Cfe.ts';
import { Sobre } from '../db/entities/Sobre.ts';
import type { Orm } from '../db/orm.ts';

/** A send that has not left by then is given up: support counts on it when it abandons a CFE (activities/support.ts). */
const LEAVES_WITHIN_MILLISECONDS = 60_000;

/** A send may begin; or it may not: another try has the sobre in hand, or the CFE needs none any more. */
type Begun = { sendingAt: Date; leaveBy: Date } | 'elsewhere' | 'over';

/**
 * Stores that a sobre is about to be sent, provided that it stands as `sobre` was read. The CFE's row gives the turn:
 * an attempt of a worker that was thought lost finds here what was decided meanwhile (that the authority has it, that
 * support abandoned it), and nothing goes out.
 */
export async function beginSend(
  { orm, clock }: { orm: Orm; clock: () => Date },
  { id, cfeId, state }: Pick<Sobre, 'id' | 'cfeId' | 'state'>,
): Promise<Begun> {
  return orm.em.fork().transactional(async (em) => {
    const cfe = await em.findOneOrFail(Cfe, { id: cfeId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (cfe.status !== 'PENDING') return 'over';
    const sendingAt = clock();
    const begun = await em.nativeUpdate(Sobre, { id, state }, { state: 'SENDING', sendingAt });
    if (begun === 0) return 'elsewhere';
    return { sendingAt, leaveBy: new Date(sendingAt.getTime() + LEAVES_WITHIN_MILLISECONDS) };
  });
}
