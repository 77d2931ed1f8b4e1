import type { EntityManager } from '@mikro-orm/postgresql';
import { stillMayAct } from '../../db/roles.ts';
import { Refusal } from '../../errors.ts';
import type { CommandDeps } from './deps.ts';

/**
 * Refuses (FORBIDDEN) who lost their role at the enterprise after they were let in: else what they put there would stay
 * behind a transfer that took everything else out.
 */
export async function requireStanding(
  { actor = 'service' }: Pick<CommandDeps, 'actor'>,
  em: EntityManager,
  rut: string,
): Promise<void> {
  if (await stillMayAct(em, actor, rut)) return;
  throw new Refusal('FORBIDDEN', `You have no role at the enterprise ${rut} any more.`);
}
