import { addBranch } from '../../commands/addBranch.ts';
import { CreateBranch } from '../../domain/enterprise.ts';
import { Rut } from '../../domain/rut.ts';
import { BODY_LIMITS, defineRoute } from '../route.ts';
import { BranchView, branchView } from '../views/branch.ts';

/** POST …/branches: adds a branch that the authority knows, or opens a closed one again. */
export const createBranch = defineRoute({
  name: 'createBranch',
  method: 'POST',
  path: '/enterprises/{rut}/branches',
  summary: 'Add branch',
  about:
    'Adds a branch that the tax authority knows, or opens a closed one again. A CFE is issued from it by `extra.branch`.',
  auth: 'token',
  sandbox: false,
  role: 'OWNER',
  params: { rut: Rut },
  query: null,
  body: { schema: CreateBranch, limitBytes: BODY_LIMITS.other },
  success: { status: 201, description: 'The branch', schema: BranchView },
  errors: ['ALREADY_EXISTS'],
  async handle({ params, body }, deps) {
    return branchView(await addBranch(deps, { rut: params.rut, body }));
  },
});
