import * as z from 'zod';
import { removeBranch } from '../../commands/removeBranch.ts';
import { BRANCH_PATH, BranchParams } from '../branchPath.ts';
import { defineRoute } from '../route.ts';

/** DELETE …/branches/{branch}: closes it, or forgets one that no CFE was issued from. */
export const deleteBranch = defineRoute({
  name: 'deleteBranch',
  method: 'DELETE',
  path: BRANCH_PATH,
  summary: 'Close or delete branch',
  about:
    'Forgets a branch that no CFE was issued from, and closes any other. The first branch cannot be deleted.',
  auth: 'token',
  sandbox: false,
  role: 'OWNER',
  params: BranchParams,
  query: null,
  body: null,
  success: {
    status: 200,
    description: 'The branch was closed or deleted',
    schema: z.literal(true).meta({ description: 'Always true.' }),
  },
  errors: ['NOT_FOUND'],
  async handle({ params }, deps) {
    await removeBranch(deps, params);
    return true as const;
  },
});
