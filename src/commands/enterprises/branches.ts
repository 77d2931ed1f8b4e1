import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { type BranchFacts, type BranchKey, openBranch } from '../../db/enterprises/enterprises.ts';
import { Branch, type Enterprise } from '../../db/entities/enterprises.ts';
import { recordEnterpriseChanges } from '../../db/webhooks/events.ts';
import type { CreateBranch, UpdateBranch } from '../../domain/enterprises/enterprise.ts';
import { firstBranchStays } from '../../domain/enterprises/enterpriseRules.ts';
import type { AuditAction } from '../../domain/operations/audit.ts';
import { invalidInput, Refusal } from '../../errors.ts';
import { auditAct } from '../steps/auditAct.ts';
import type { CommandDeps } from '../steps/deps.ts';
import { requireLockedEnterprise } from '../steps/requireEnterprise.ts';
import { requireEnterpriseRole } from '../steps/requireEnterpriseRole.ts';

interface Change<T> {
  readonly action: AuditAction;
  readonly result: T;
}

/**
 * Runs `change` on an additional branch (`stored`; null for the first branch or an unknown one) and audits it, in one
 * transaction. Locks the branch before the enterprise, in the same order as issuing, to prevent a deadlock.
 */
async function changeBranches<T>(
  deps: CommandDeps,
  { rut, branch }: BranchKey,
  change: (
    em: EntityManager,
    at: { enterprise: Enterprise; stored: Branch | null },
    now: Date,
  ) => Change<T> | Promise<Change<T>>,
): Promise<T> {
  const result = await deps.orm.em.fork().transactional(async (em) => {
    const stored = await em.findOne(Branch, { rut, branch }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    const enterprise = await requireLockedEnterprise(em, rut);
    await requireEnterpriseRole(deps, em, rut);
    const now = deps.clock();
    const { action, result } = await recordEnterpriseChanges(em, enterprise, now, () =>
      change(em, { enterprise, stored }, now),
    );
    auditAct(deps, em, { action, subject: `${rut}/${branch}`, rut }, now);
    return result;
  });
  deps.outbox.scheduleDispatch();
  return result;
}

const branchFacts = (body: UpdateBranch): BranchFacts => ({
  streetName: body.street_name,
  localityName: body.locality_name,
  departmentName: body.department_name,
  phoneNumber: body.phone_number ?? null,
});

const noSuchBranch = (branch: number): Refusal =>
  new Refusal('NOT_FOUND', `The enterprise has no open branch ${branch}.`);

/** Adds a branch to an enterprise, or reopens a closed one. Throws ALREADY_EXISTS when the code is in use. */
export function addBranch(
  deps: CommandDeps,
  { rut, body }: { rut: string; body: CreateBranch },
): Promise<Branch> {
  const { branch } = body;
  return changeBranches(deps, { rut, branch }, async (em, { enterprise, stored }, now) => {
    const isNew = enterprise.branch !== branch && (!stored || stored.closedAt);
    const added = isNew ? await openBranch(em, { rut, branch }, stored, branchFacts(body), now) : null;
    if (!added) throw new Refusal('ALREADY_EXISTS', `The enterprise already has a branch ${branch}.`);
    return { action: 'branch.add', result: added };
  });
}

/**
 * Replaces the data of a branch; CFEs that are already numbered keep the old data. Throws NOT_FOUND for an
 * unknown or closed branch.
 */
export function updateBranch(
  deps: CommandDeps,
  { rut, branch, body }: { rut: string; branch: number; body: UpdateBranch },
): Promise<BranchFacts & { branch: number }> {
  return changeBranches(deps, { rut, branch }, (_em, { enterprise, stored }) => {
    const open = stored?.closedAt ? null : stored;
    const changed = enterprise.branch === branch ? enterprise : open;
    if (!changed) throw noSuchBranch(branch);
    return { action: 'branch.update', result: Object.assign(changed, branchFacts(body)) };
  });
}

/**
 * Closes a branch from which CFEs were issued; deletes any other. Throws INVALID_INPUT for the enterprise's
 * first branch, NOT_FOUND for an unknown or closed one.
 */
export function removeBranch(
  deps: CommandDeps,
  { rut, branch }: { rut: string; branch: number },
): Promise<void> {
  return changeBranches(deps, { rut, branch }, (em, { enterprise, stored }, now) => {
    if (enterprise.branch === branch) throw invalidInput([firstBranchStays(branch)]);
    if (!stored || stored.closedAt) throw noSuchBranch(branch);
    if (stored.usedAt) stored.closedAt = now;
    else em.remove(stored);
    return { action: stored.usedAt ? 'branch.close' : 'branch.delete', result: undefined };
  });
}
