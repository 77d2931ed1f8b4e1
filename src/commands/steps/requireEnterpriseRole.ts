import type { EntityManager } from '@mikro-orm/postgresql';
import { stillMayAct } from '../../db/people/roles.ts';
import { Refusal } from '../../errors.ts';
import type { CommandDeps } from './deps.ts';

/**
 * Throws FORBIDDEN when the caller lost their role at the enterprise since authorization: data they added now
 * would survive a transfer that removed all the rest.
 */
export async function requireEnterpriseRole(
  { actor = 'service' }: Pick<CommandDeps, 'actor'>,
  em: EntityManager,
  rut: string,
): Promise<void> {
  if (await stillMayAct(em, actor, rut)) return;
  throw new Refusal('FORBIDDEN', `You no longer have a role at the enterprise ${rut}.`);
}
