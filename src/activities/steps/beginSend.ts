import { cfeById } from '../../db/cfes.ts';
import type { Sobre } from '../../db/entities/authority.ts';
import type { Orm } from '../../db/orm.ts';
import { markSending } from '../../db/sobres.ts';
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
  sobre: Pick<Sobre, 'id' | 'cfeUuid' | 'state'>,
): Promise<Begun> {
  const em = orm.em.fork();
  const sendingAt = clock();
  if (await markSending(em, sobre, sendingAt)) {
    return { sendingAt, leaveBy: new Date(sendingAt.getTime() + DEADLINES.sendLeaves) };
  }
  const { status } = await cfeById(em, sobre.cfeUuid);
  return status === 'PENDING' ? 'elsewhere' : 'movedOn';
}
