import { openBranch } from '../db/branches.ts';
import type { Branch } from '../db/entities/Branch.ts';
import type { CreateBranch } from '../domain/enterprise.ts';
import { Refusal } from '../errors.ts';
import { branchFacts, changeBranches } from './steps/branches.ts';
import type { CommandDeps } from './steps/deps.ts';

/** Adds a branch to an enterprise, or opens a closed one again. Refuses a code that is in use (ALREADY_EXISTS). */
export function addBranch(
  deps: CommandDeps,
  { rut, body }: { rut: string; body: CreateBranch },
): Promise<Branch> {
  const { branch } = body;
  return changeBranches(deps, { rut, branch }, async (em, { enterprise, found }, now) => {
    const isNew = enterprise.branch !== branch && (!found || found.closedAt);
    const added = isNew ? await openBranch(em, { rut, branch }, found, branchFacts(body), now) : null;
    if (!added) throw new Refusal('ALREADY_EXISTS', `The enterprise has a branch ${branch} already.`);
    return { action: 'branch.add', result: added };
  });
}
