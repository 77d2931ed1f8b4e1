import { deleteGrant } from '../db/grants.ts';
import { isUuid } from '../domain/uuid.ts';
import { Refusal } from '../errors.ts';
import { audited } from './audited.ts';
import type { CommandDeps } from './deps.ts';

/** Takes from an account what it was granted at an enterprise. An operator's act. Refuses where it was nothing (NOT_FOUND). */
export function removeGrant(deps: CommandDeps, of: { accountId: string; rut: string }): Promise<void> {
  const { accountId, rut } = of;
  return deps.orm.em.fork().transactional(async (em) => {
    if (!isUuid(accountId) || !(await deleteGrant(em, of))) {
      throw new Refusal(
        'NOT_FOUND',
        `The account ${accountId} was granted nothing at the enterprise ${rut}.`,
      );
    }
    audited(deps, em, { action: 'grant.remove', subject: accountId, accountId, rut }, deps.clock());
  });
}
