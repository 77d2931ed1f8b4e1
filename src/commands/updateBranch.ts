import type { BranchFacts } from '../db/branches.ts';
import type { UpdateBranch } from '../domain/enterprise.ts';
import { branchFacts, changeBranches, noSuchBranch } from './steps/branches.ts';
import type { CommandDeps } from './steps/deps.ts';

/**
 * Puts what is told of a branch in the place of what was; the first branch is the enterprise's own. CFEs that are
 * numbered already keep what they were numbered with. Refuses an unknown or closed branch (NOT_FOUND).
 */
export function updateBranch(
  deps: CommandDeps,
  { rut, branch, body }: { rut: string; branch: number; body: UpdateBranch },
): Promise<BranchFacts & { branch: number }> {
  return changeBranches(deps, { rut, branch }, (_em, { enterprise, found }) => {
    const open = found?.closedAt ? null : found;
    const changed = enterprise.branch === branch ? enterprise : open;
    if (!changed) throw noSuchBranch(branch);
    return { action: 'branch.update', result: Object.assign(changed, branchFacts(body)) };
  });
}
