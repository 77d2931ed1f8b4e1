import * as z from 'zod';
import { addBranch, removeBranch, updateBranch as update } from '../../../commands/enterprises/branches.ts';
import { findBranches as find, findBranch } from '../../../db/enterprises/enterprises.ts';
import { CreateBranch, UpdateBranch } from '../../../domain/enterprises/enterprise.ts';
import { ENTERPRISE_FIELDS } from '../../../domain/enterprises/enterpriseFields.ts';
import { describeField } from '../../../domain/requests/fieldWords.ts';
import { Rut } from '../../../domain/values/rut.ts';
import { wholeNumber } from '../../../domain/values/wholeNumber.ts';
import { BranchView, branchView } from '../../../views/enterprises/branch.ts';
import { requireUnchanged, withReadOnlyFields } from '../../readBack.ts';
import { BODY_LIMITS, defineRoute } from '../../route.ts';

/** The path of a branch, by the authority's code. */
const BRANCH_PATH = '/enterprises/{rut}/branches/{branch}';

const BranchParams = {
  rut: Rut,
  branch: wholeNumber({ minimum: 0, maximum: 9999 }).meta(describeField(ENTERPRISE_FIELDS.branch.words)),
};

/** POST …/branches: adds a branch registered with the authority, or reopens a closed one. */
export const createBranchRoute = defineRoute({
  name: 'createBranch',
  method: 'POST',
  path: '/enterprises/{rut}/branches',
  summary: 'Add branch',
  about:
    'Adds a branch that is registered with the tax authority, or reopens a closed one. Issue a CFE from it with `extra.branch`.',
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

/** GET …/branches: lists the enterprise's branches, its first branch before the others. */
export const listBranchesRoute = defineRoute({
  name: 'listBranches',
  method: 'GET',
  path: '/enterprises/{rut}/branches',
  summary: 'List branches',
  about: 'All branches, including closed ones; the enterprise’s first branch comes first.',
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

/** PUT …/branches/{branch}: sets a branch's address and telephone. */
export const updateBranchRoute = defineRoute({
  name: 'updateBranch',
  method: 'PUT',
  path: BRANCH_PATH,
  summary: 'Update branch',
  about:
    'Sets the address and telephone of a branch; CFEs that are already numbered keep the old ones. A branch may be sent back as it was read: `branch` must match the path.',
  auth: 'token',
  role: 'OWNER',
  params: BranchParams,
  body: { schema: withReadOnlyFields(UpdateBranch, BranchView), limitBytes: BODY_LIMITS.other },
  success: { status: 200, description: 'The branch', schema: BranchView },
  errors: ['NOT_FOUND'],
  async handle({ params, body, enterprise }, deps) {
    const isFirst = enterprise.branch === params.branch;
    const current = isFirst ? enterprise : await findBranch(deps.orm.em.fork(), params);
    if (current) {
      const { branch, closed_at } = branchView(current);
      requireUnchanged(body, { branch, closed_at });
    }
    return branchView(await update(deps, { ...params, body }));
  },
});

/** DELETE …/branches/{branch}: closes a branch, or deletes it if no CFE was issued from it. */
export const deleteBranchRoute = defineRoute({
  name: 'deleteBranch',
  method: 'DELETE',
  path: BRANCH_PATH,
  summary: 'Close or delete branch',
  about:
    'Deletes a branch from which no CFE was issued, and closes any other. The first branch cannot be deleted.',
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
