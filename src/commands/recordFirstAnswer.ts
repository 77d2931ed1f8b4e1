import type { FirstAnswer } from '../db/entities/Cfe.ts';
import { putFirstAnswer } from '../db/idempotency.ts';
import type { CommandDeps } from './deps.ts';

/**
 * Writes down how a CFE with an Idempotency-Key was first answered, where that was not as it was taken: its request
 * waited for the verdict. What stands there already stays; a CFE without a key has none.
 */
export async function recordFirstAnswer(
  deps: Pick<CommandDeps, 'orm'>,
  cfeId: string,
  { status, rejection, digest }: FirstAnswer,
): Promise<void> {
  await putFirstAnswer(deps.orm.em.fork(), cfeId, { status, rejection, digest });
}
