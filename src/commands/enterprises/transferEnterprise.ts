import type { EntityManager } from '@mikro-orm/postgresql';
import { lockBranchesOf } from '../../db/enterprises/enterprises.ts';
import { countOwnerData, type OwnerData, removeOwnerData } from '../../db/enterprises/ownerData.ts';
import type { Enterprise } from '../../db/entities/enterprises.ts';
import { requireAccount } from '../../db/people/accounts.ts';
import { deleteGrant, listGrants } from '../../db/people/roles.ts';
import { recordEnterpriseChanges } from '../../db/webhooks/events.ts';
import { Refusal } from '../../errors.ts';
import { recordRoleChange } from '../people/members.ts';
import { auditAct } from '../steps/auditAct.ts';
import { isOwnerProven, type OwnershipDeps } from '../steps/ownership.ts';
import { requireLockedEnterprise } from '../steps/requireEnterprise.ts';

interface Transfer {
  readonly rut: string;
  readonly accountId: string;
  readonly reason: string;
}

/**
 * Makes another account the owner of an enterprise; the previous owner loses its role. Operators only.
 * Without a certificate that proves ownership, removes the previous account's data (db/enterprises/ownerData.ts), such as
 * addresses to which receipts would be mailed. Every account whose role changes gets an event.
 * Returns the removed data; null when ownership is proven. Throws NOT_FOUND for an unknown RUT or account,
 * INVALID_INPUT for the current owner.
 */
export async function transferEnterprise(deps: OwnershipDeps, input: Transfer): Promise<OwnerData | null> {
  const { rut, reason } = input;
  const removed = await deps.orm.em.fork().transactional(async (em) => {
    // Branches before the enterprise, in the order of `changeBranches`.
    await lockBranchesOf(em, rut);
    const { enterprise, accountId } = await lockForTransfer(em, input);
    const before = enterprise.ownerAccountId;
    const now = deps.clock();
    const roles = await listGrants(em, { rut });
    const isProven = await isOwnerProven(em, rut, deps);
    const removed = isProven ? null : await countOwnerData(em, enterprise, accountId);
    const wasGranted = roles.find((role) => role.accountId === accountId)?.role ?? null;
    const change = async (): Promise<void> => {
      if (removed) await removeOwnerData(em, enterprise, accountId, now);
      await deleteGrant(em, { accountId, rut });
      enterprise.ownerAccountId = accountId;
      await em.flush();
    };
    // An account that had no role must not learn the removed data of the previous account.
    await (wasGranted === null ? change() : recordEnterpriseChanges(em, enterprise, now, change));
    // After the removal, which would also give up this event's deliveries.
    await recordRoleChange(em, enterprise, { accountId: before, from: 'OWNER', to: null }, now);
    await recordRoleChange(em, enterprise, { accountId, from: wasGranted, to: 'OWNER' }, now);
    const ended = isProven ? [] : roles.filter((role) => role.accountId !== accountId);
    for (const { accountId: other, role } of ended)
      await recordRoleChange(em, enterprise, { accountId: other, from: role, to: null }, now);
    auditAct(deps, em, { action: 'enterprise.transfer', subject: before, accountId, rut, reason }, now);
    return removed;
  });
  deps.outbox.scheduleDispatch();
  return removed;
}

/** Returns the data that a transfer (to `to`, if known) would remove; null when a certificate proves ownership. */
export async function previewRemoval(
  deps: OwnershipDeps,
  enterprise: Enterprise,
  to: string | null = null,
): Promise<OwnerData | null> {
  const em = deps.orm.em.fork();
  return (await isOwnerProven(em, enterprise.rut, deps)) ? null : countOwnerData(em, enterprise, to);
}

/** Returns the data that the transfer would remove, without changing anything. Throws as the transfer does. */
export async function previewTransfer(
  deps: OwnershipDeps,
  input: Pick<Transfer, 'rut' | 'accountId'>,
): Promise<OwnerData | null> {
  const { enterprise, accountId } = await deps.orm.em
    .fork()
    .transactional((em) => lockForTransfer(em, input));
  return previewRemoval(deps, enterprise, accountId);
}

/** Returns the enterprise, locked by the open transaction, and the account of its next owner. */
async function lockForTransfer(
  em: EntityManager,
  { rut, ...to }: Pick<Transfer, 'rut' | 'accountId'>,
): Promise<{ enterprise: Enterprise; accountId: string }> {
  const enterprise = await requireLockedEnterprise(em, rut);
  const { id: accountId } = await requireAccount(em, to.accountId);
  if (enterprise.ownerAccountId === accountId) {
    throw new Refusal('INVALID_INPUT', `The account ${accountId} already owns the enterprise ${rut}.`);
  }
  return { enterprise, accountId };
}
