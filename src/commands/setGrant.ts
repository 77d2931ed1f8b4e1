import { requireAccount } from '../db/accounts.ts';
import { lockEnterprise } from '../db/enterprises.ts';
import type { EnterpriseGrant } from '../db/entities/EnterpriseGrant.ts';
import { putGrant } from '../db/grants.ts';
import type { GrantedRole } from '../domain/grantedRole.ts';
import { Refusal } from '../errors.ts';
import { audited } from './steps/audited.ts';
import type { CommandDeps } from './steps/deps.ts';

/**
 * Lets an account be MEMBER or VIEWER at an enterprise, in place of what it was. An operator's act. Refuses an unknown
 * account or enterprise (NOT_FOUND), and the account that owns the enterprise (INVALID_INPUT).
 */
export function setGrant(
  deps: CommandDeps,
  grant: { accountId: string; rut: string; role: GrantedRole; reason?: string | undefined },
): Promise<Omit<EnterpriseGrant, symbol>> {
  const { rut, role, reason } = grant;
  return deps.orm.em.fork().transactional(async (em) => {
    const { id: accountId } = await requireAccount(em, grant.accountId);
    // Locked, so that nobody makes the account its owner meanwhile.
    const enterprise = await lockEnterprise(em, rut);
    if (!enterprise) throw new Refusal('NOT_FOUND', `No enterprise with RUT ${rut} is registered.`);
    if (enterprise.ownerAccountId === accountId) {
      throw new Refusal(
        'INVALID_INPUT',
        `The account ${accountId} is already the OWNER of the enterprise ${rut}.`,
      );
    }
    await putGrant(em, { accountId, rut, role });
    const why = reason === undefined ? {} : { reason };
    audited(deps, em, { action: 'grant.set', subject: role, accountId, rut, ...why }, deps.clock());
    return { accountId, rut, role };
  });
}
