import * as z from 'zod';
import { addBranch, removeBranch, updateBranch as update } from '../../commands/branches.ts';
import { findBranches as find, findBranch } from '../../db/enterprises.ts';
import { CreateBranch, UpdateBranch } from '../../domain/enterprise.ts';
import { ENTERPRISE_FIELDS } from '../../domain/enterpriseFields.ts';
import { describeField } from '../../domain/fieldWords.ts';
import { Rut } from '../../domain/rut.ts';
import { BranchView, branchView } from '../../views/branch.ts';
import { wholeNumber } from '../paging.ts';
import { requireUnchanged, withReadOnly } from '../readBack.ts';
import { BODY_LIMITS, defineRoute } from '../route.ts';

/** A branch in a path: by the code that the authority gave to it. */
const BRANCH_PATH = '/enterprises/{rut}/branches/{branch}';

/** The values of BRANCH_PATH. */
const BranchParams = {
  rut: Rut,
  branch: wholeNumber({ minimum: 0, maximum: 9999 }).meta(describeField(ENTERPRISE_FIELDS.branch.words)),
};

/** POST …/branches: adds a branch that the authority knows, or opens a closed one again. */
export const createBranch = defineRoute({
  name: 'createBranch',
  method: 'POST',
  path: '/enterprises/{rut}/branches',
  summary: 'Add branch',
  about:
    'Adds a branch that the tax authority knows, or opens a closed one again. A CFE is issued from it by `extra.branch`.',
  auth: 'token',
  role: 'OWNER',
  params: { rut: Rut },
  body: { schema: CreateBranch, limitBytes: BODY_LIMITS.other },
  success: { status: 201, description: 'The branch', schema: BranchView },
  errors: ['ALREADY_EXISTS'],
  async handle({ params, body }, deps) {
    return branchView(await addBranch(deps, { rut: params.rut, body }));
  },
});

/** GET …/branches: where the enterprise issues from, its first branch before the others. */
export const listBranches = defineRoute({
  name: 'listBranches',
  method: 'GET',
  path: '/enterprises/{rut}/branches',
  summary: 'List branches',
  about: 'Every branch, the enterprise’s first one before the others, closed ones too.',
  auth: 'token',
  role: 'VIEWER',
  params: { rut: Rut },
  success: {
    status: 200,
    description: 'The branches, the first one first',
    schema: z.array(BranchView).meta({ description: 'The branches.' }),
  },
  async handle({ enterprise }, { orm }) {
    const others = await find(orm.em.fork(), enterprise.rut);
    return [enterprise, ...others].map(branchView);
  },
});

/** PUT …/branches/{branch}: its address and telephone from now on. */
export const updateBranch = defineRoute({
  name: 'updateBranch',
  method: 'PUT',
  path: BRANCH_PATH,
  summary: 'Update branch',
  about:
    'Sets address and telephone of a branch from now on; what is numbered keeps what it was numbered with. A branch may be written back as it was read: `branch` must be the one in the path.',
  auth: 'token',
  role: 'OWNER',
  params: BranchParams,
  body: { schema: withReadOnly(UpdateBranch, BranchView), limitBytes: BODY_LIMITS.other },
  success: { status: 200, description: 'The branch', schema: BranchView },
  errors: ['NOT_FOUND'],
  async handle({ params, body, enterprise }, deps) {
    const isFirst = enterprise.branch === params.branch;
    const found = isFirst ? enterprise : await findBranch(deps.orm.em.fork(), params);
    if (found) {
      const { branch, closed_at } = branchView(found);
      requireUnchanged(body, { branch, closed_at });
    }
    return branchView(await update(deps, { ...params, body }));
  },
});

/** DELETE …/branches/{branch}: closes it, or forgets one that no CFE was issued from. */
export const deleteBranch = defineRoute({
  name: 'deleteBranch',
  method: 'DELETE',
  path: BRANCH_PATH,
  summary: 'Close or delete branch',
  about:
    'Forgets a branch that no CFE was issued from, and closes any other. The first branch cannot be deleted.',
  auth: 'token',
  role: 'OWNER',
  params: BranchParams,
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
