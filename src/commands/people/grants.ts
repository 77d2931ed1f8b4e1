import { lockEnterprise } from '../../db/enterprises/enterprises.ts';
import { EnterpriseGrant } from '../../db/entities/enterprises.ts';
import { requireAccount } from '../../db/people/accounts.ts';
import { deleteGrant, listGrants } from '../../db/people/roles.ts';
import type { GrantedRole } from '../../domain/people/roles.ts';
import { isUuid } from '../../domain/values/uuid.ts';
import { Refusal } from '../../errors.ts';
import { auditAct } from '../steps/auditAct.ts';
import type { CommandDeps } from '../steps/deps.ts';
import { requireLockedEnterprise } from '../steps/requireEnterprise.ts';
import { recordRoleChange } from './members.ts';

/**
 * Gives an account the role MEMBER or VIEWER at an enterprise, replacing its previous role, and notifies it
 * of a change. Operators only. Throws NOT_FOUND for an unknown account or enterprise, INVALID_INPUT for the
 * owner.
 */
export async function setGrant(
  deps: CommandDeps,
  grant: { accountId: string; rut: string; role: GrantedRole; reason?: string | undefined },
): Promise<Omit<EnterpriseGrant, symbol>> {
  const { rut, role, reason } = grant;
  const set = await deps.orm.em.fork().transactional(async (em) => {
    const { id: accountId } = await requireAccount(em, grant.accountId);
    // Locked to prevent a concurrent transfer to this account.
    const enterprise = await requireLockedEnterprise(em, rut);
    if (enterprise.ownerAccountId === accountId) {
      throw new Refusal(
        'INVALID_INPUT',
        `The account ${accountId} is already the OWNER of the enterprise ${rut}.`,
      );
    }
    const now = deps.clock();
    const [before] = await listGrants(em, { accountId, rut });
    const from = before?.role ?? null;
    await em.upsert(EnterpriseGrant, { accountId, rut, role }, { onConflictFields: ['accountId', 'rut'] });
    await recordRoleChange(em, enterprise, { accountId, from, to: role }, now);
    auditAct(deps, em, { action: 'grant.set', subject: role, accountId, rut, reason }, now);
    return { accountId, rut, role };
  });
  deps.outbox.scheduleDispatch();
  return set;
}

/**
 * Removes the role that an account was granted at an enterprise, and notifies it. Operators only. Throws
 * NOT_FOUND without such a role.
 */
export async function removeGrant(
  deps: CommandDeps,
  input: { accountId: string; rut: string; reason?: string | undefined },
): Promise<void> {
  const { accountId, rut, reason } = input;
  await deps.orm.em.fork().transactional(async (em) => {
    // Locked as in `setGrant`, so that role events are recorded in order.
    const enterprise = await lockEnterprise(em, rut);
    const [granted] = enterprise && isUuid(accountId) ? await listGrants(em, { accountId, rut }) : [];
    if (!enterprise || !granted) {
      throw new Refusal(
        'NOT_FOUND',
        `The account ${accountId} has no granted role at the enterprise ${rut}.`,
      );
    }
    const now = deps.clock();
    await deleteGrant(em, { accountId, rut });
    await recordRoleChange(em, enterprise, { accountId, from: granted.role, to: null }, now);
    auditAct(deps, em, { action: 'grant.remove', subject: accountId, accountId, rut, reason }, now);
  });
  deps.outbox.scheduleDispatch();
}
