import { firstBranchStays } from '../domain/enterpriseRules.ts';
import { invalidInput } from '../errors.ts';
import { changeBranches, noSuchBranch } from './steps/branches.ts';
import type { CommandDeps } from './steps/deps.ts';

/**
 * Ends a branch: one that CFEs were issued from is closed, another is deleted. Refuses the enterprise's first branch
 * (INVALID_INPUT) and one that is unknown or closed (NOT_FOUND).
 */
export function removeBranch(
  deps: CommandDeps,
  { rut, branch }: { rut: string; branch: number },
): Promise<void> {
  return changeBranches(deps, { rut, branch }, (em, { enterprise, found }, now) => {
    if (enterprise.branch === branch) throw invalidInput([firstBranchStays(branch)]);
    if (!found || found.closedAt) throw noSuchBranch(branch);
    if (found.usedAt) found.closedAt = now;
    else em.remove(found);
    return { action: found.usedAt ? 'branch.close' : 'branch.delete', result: undefined };
  });
}
