import type { EntityManager } from '@mikro-orm/postgresql';
import { requireAccount } from '../db/accounts.ts';
import { lockBranchesOf, lockEnterprise } from '../db/enterprises.ts';
import type { Enterprise } from '../db/entities/enterprises.ts';
import { recordEnterpriseChanges } from '../db/events.ts';
import { countLeftovers, type Leftovers, removeLeftovers } from '../db/leftovers.ts';
import { deleteGrant, listGrants } from '../db/roles.ts';
import { Refusal } from '../errors.ts';
import { recordRoleChange } from './members.ts';
import { audited } from './steps/audited.ts';
import { isOwnerProven, type OwnershipDeps } from './steps/ownership.ts';

/** Which enterprise is to be whose, and why. */
interface Transfer {
  readonly rut: string;
  readonly accountId: string;
  readonly reason: string;
}

/**
 * Makes another account the owner of an enterprise; the one before has no role there any more. Where a certificate proves
 * whose the enterprise is, all else stays: its data, its login, its CFEs and the roles of others. Where none does, what the
 * account before put there goes (db/leftovers.ts): else receipts would be mailed to whom it named. An operator's act. Each
 * account whose role changes gets an event. Returns what was taken out; null where a certificate proves whose it is. Refuses
 * an unknown RUT or account (NOT_FOUND), and the account that owns it (INVALID_INPUT).
 */
export async function transferEnterprise(deps: OwnershipDeps, input: Transfer): Promise<Leftovers | null> {
  const { rut, reason } = input;
  const removed = await deps.orm.em.fork().transactional(async (em) => {
    // Before the enterprise, as whoever changes a branch does.
    await lockBranchesOf(em, rut);
    const { enterprise, accountId } = await checked(em, input);
    const before = enterprise.ownerAccountId;
    const now = deps.clock();
    const roles = await listGrants(em, { rut });
    const isProven = await isOwnerProven(em, rut, deps);
    const removed = isProven ? null : await countLeftovers(em, enterprise, accountId);
    const wasGranted = roles.find((role) => role.accountId === accountId)?.role ?? null;
    const change = async (): Promise<void> => {
      if (removed) await removeLeftovers(em, enterprise, accountId, now);
      await deleteGrant(em, { accountId, rut });
      enterprise.ownerAccountId = accountId;
      await em.flush();
    };
    // Who had a role knew the data that goes; who had none is not told what another account had put there.
    await (wasGranted === null ? change() : recordEnterpriseChanges(em, enterprise, now, change));
    // Only now: deliveries that waited for the account before were given up above.
    await recordRoleChange(em, enterprise, { accountId: before, from: 'OWNER', to: null }, now);
    await recordRoleChange(em, enterprise, { accountId, from: wasGranted, to: 'OWNER' }, now);
    const ended = isProven ? [] : roles.filter((role) => role.accountId !== accountId);
    for (const { accountId: other, role } of ended)
      await recordRoleChange(em, enterprise, { accountId: other, from: role, to: null }, now);
    audited(deps, em, { action: 'enterprise.transfer', subject: before, accountId, rut, reason }, now);
    return removed;
  });
  deps.outbox.scheduleDispatch();
  return removed;
}

/** What a transfer, to that account where it is known, would take out of an enterprise; null where a certificate proves whose it is. */
export async function wouldGo(
  deps: OwnershipDeps,
  enterprise: Enterprise,
  to: string | null = null,
): Promise<Leftovers | null> {
  const em = deps.orm.em.fork();
  return (await isOwnerProven(em, enterprise.rut, deps)) ? null : countLeftovers(em, enterprise, to);
}

/** Refuses as the transfer would; else returns what it would take out, changing nothing. */
export async function lookAtTransfer(
  deps: OwnershipDeps,
  input: Pick<Transfer, 'rut' | 'accountId'>,
): Promise<Leftovers | null> {
  const { enterprise, accountId } = await deps.orm.em.fork().transactional((em) => checked(em, input));
  return wouldGo(deps, enterprise, accountId);
}

/** The enterprise, locked by the open transaction, and the account that is to own it. */
async function checked(
  em: EntityManager,
  { rut, ...to }: Pick<Transfer, 'rut' | 'accountId'>,
): Promise<{ enterprise: Enterprise; accountId: string }> {
  const enterprise = await lockEnterprise(em, rut);
  if (!enterprise) throw new Refusal('NOT_FOUND', `No enterprise with RUT ${rut} is registered.`);
  const { id: accountId } = await requireAccount(em, to.accountId);
  if (enterprise.ownerAccountId === accountId) {
    throw new Refusal('INVALID_INPUT', `The account ${accountId} already owns the enterprise ${rut}.`);
  }
  return { enterprise, accountId };
}
