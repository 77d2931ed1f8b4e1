import type { EntityManager } from '@mikro-orm/postgresql';
import { stillMayAct } from '../../db/people/roles.ts';
import { Refusal } from '../../errors.ts';
import type { CommandDeps } from './deps.ts';

/**
 * Throws FORBIDDEN when the caller has lost the role at the enterprise since authorization: data added now would survive a
 * transfer that has removed all other data of the caller.
 */
export async function requireEnterpriseRole(
  { actor = 'service' }: Pick<CommandDeps, 'actor'>,
  em: EntityManager,
  rut: string,
): Promise<void> {
  if (await stillMayAct(em, actor, rut)) return;
  throw new Refusal('FORBIDDEN', `You no longer have a role at the enterprise ${rut}.`);
}
