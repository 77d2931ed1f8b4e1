import { deleteGrant } from '../db/grants.ts';
import { isUuid } from '../domain/uuid.ts';
import { Refusal } from '../errors.ts';
import { audited } from './steps/audited.ts';
import type { CommandDeps } from './steps/deps.ts';

/** Removes the role that an account was granted at an enterprise. An operator's act. Refuses where it has none (NOT_FOUND). */
export function removeGrant(
  deps: CommandDeps,
  input: { accountId: string; rut: string; reason?: string | undefined },
): Promise<void> {
  const { accountId, rut, reason } = input;
  return deps.orm.em.fork().transactional(async (em) => {
    if (!isUuid(accountId) || !(await deleteGrant(em, { accountId, rut }))) {
      throw new Refusal(
        'NOT_FOUND',
        `The account ${accountId} has no granted role at the enterprise ${rut}.`,
      );
    }
    const why = reason === undefined ? {} : { reason };
    audited(deps, em, { action: 'grant.remove', subject: accountId, accountId, rut, ...why }, deps.clock());
  });
}
