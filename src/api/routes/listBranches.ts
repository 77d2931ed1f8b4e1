import * as z from 'zod';
import { listBranches as find } from '../../db/branches.ts';
import { Rut } from '../../domain/rut.ts';
import { defineRoute } from '../route.ts';
import { BranchView, branchView } from '../views/branch.ts';

/** GET …/branches: where the enterprise issues from, its first branch before the others. */
export const listBranches = defineRoute({
  name: 'listBranches',
  method: 'GET',
  path: '/enterprises/{rut}/branches',
  summary: 'List branches',
  about: 'Every branch, the enterprise’s first one before the others, closed ones too.',
  auth: 'token',
  sandbox: false,
  role: 'VIEWER',
  params: { rut: Rut },
  query: null,
  body: null,
  success: {
    status: 200,
    description: 'The branches, the first one first',
    schema: z.array(BranchView).meta({ description: 'The branches.' }),
  },
  errors: [],
  async handle({ enterprise }, { orm }) {
    const others = await find(orm.em.fork(), enterprise.rut);
    return [enterprise, ...others].map(branchView);
  },
});
