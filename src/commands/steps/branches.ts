import type { EntityManager } from '@mikro-orm/postgresql';
import { type BranchFacts, type BranchKey, lockBranch } from '../../db/branches.ts';
import { lockEnterprise } from '../../db/enterprises.ts';
import type { Branch } from '../../db/entities/Branch.ts';
import type { Enterprise } from '../../db/entities/Enterprise.ts';
import { recordingChanges } from '../../db/events.ts';
import type { AuditAction } from '../../domain/audit.ts';
import type { UpdateBranch } from '../../domain/enterprise.ts';
import { Refusal } from '../../errors.ts';
import { audited } from './audited.ts';
import type { CommandDeps } from './deps.ts';

interface Change<T> {
  readonly action: AuditAction;
  readonly result: T;
}

/**
 * Runs `change` on a branch (null when it is the first, or there is none) in one transaction that holds its lock and then
 * the enterprise's, and writes into the audit what it was. In that order, because whoever issues from the branch holds
 * the branch while he waits for the enterprise.
 */
export async function changeBranches<T>(
  deps: CommandDeps,
  { rut, branch }: BranchKey,
  change: (
    em: EntityManager,
    at: { enterprise: Enterprise; found: Branch | null },
    now: Date,
  ) => Change<T> | Promise<Change<T>>,
): Promise<T> {
  const result = await deps.orm.em.fork().transactional(async (em) => {
    const found = await lockBranch(em, { rut, branch });
    const enterprise = await lockEnterprise(em, rut);
    if (!enterprise) throw new Refusal('NOT_FOUND', `No enterprise with RUT ${rut} is registered.`);
    const now = deps.clock();
    const { action, result } = await recordingChanges(em, enterprise, now, () =>
      change(em, { enterprise, found }, now),
    );
    audited(deps, em, { action, subject: `${rut}/${branch}`, rut }, now);
    return result;
  });
  deps.outbox.dispatchSoon();
  return result;
}

/** What is stored of a branch that a body describes. */
export const branchFacts = (body: UpdateBranch): BranchFacts => ({
  streetName: body.street_name,
  localityName: body.locality_name,
  departmentName: body.department_name,
  phoneNumber: body.phone_number ?? null,
});

export const noSuchBranch = (branch: number): Refusal =>
  new Refusal('NOT_FOUND', `The enterprise has no open branch ${branch}.`);
