import { updateBranch as update } from '../../commands/updateBranch.ts';
import { UpdateBranch } from '../../domain/enterprise.ts';
import { BRANCH_PATH, BranchParams } from '../branchPath.ts';
import { BODY_LIMITS, defineRoute } from '../route.ts';
import { BranchView, branchView } from '../views/branch.ts';

/** PUT …/branches/{branch}: its address and telephone from now on. */
export const updateBranch = defineRoute({
  name: 'updateBranch',
  method: 'PUT',
  path: BRANCH_PATH,
  summary: 'Update branch',
  about:
    'Sets address and telephone of a branch from now on; what is numbered keeps what it was numbered with.',
  auth: 'token',
  sandbox: false,
  role: 'OWNER',
  params: BranchParams,
  query: null,
  body: { schema: UpdateBranch, limitBytes: BODY_LIMITS.other },
  success: { status: 200, description: 'The branch', schema: BranchView },
  errors: ['NOT_FOUND'],
  async handle({ params, body }, deps) {
    return branchView(await update(deps, { ...params, body }));
  },
});
