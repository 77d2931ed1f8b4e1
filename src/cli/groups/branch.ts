import * as z from 'zod';
import { addBranch } from '../../commands/addBranch.ts';
import { removeBranch } from '../../commands/removeBranch.ts';
import { updateBranch } from '../../commands/updateBranch.ts';
import { listBranches } from '../../db/branches.ts';
import { findEnterprise } from '../../db/enterprises.ts';
import { typedNumber } from '../../domain/decimal.ts';
import { CreateBranch } from '../../domain/enterprise.ts';
import { required } from '../../domain/faults.ts';
import { Rut } from '../../domain/rut.ts';
import { Refusal } from '../../errors.ts';
import { type CliDeps, defineVerb, type Group, type Row } from '../verb.ts';

const ARGS = { RUT: 'RUT of the enterprise', BRANCH: 'code that the authority gave to the branch' };
const EXAMPLE = '219999830019 2';
const FACTS = [
  { flags: '--street-name <text>', about: 'street and number', required: true },
  { flags: '--locality-name <text>', about: 'locality', required: true },
  { flags: '--department-name <text>', about: 'department', required: true },
  { flags: '--phone-number <text>', about: 'telephone; none where it is left out' },
] as const;
const KEY = z.strictObject({ rut: Rut, branch: z.string() });
const WHOLE = KEY.extend({
  streetName: z.string(),
  localityName: z.string(),
  departmentName: z.string(),
  phoneNumber: z.string().optional(),
});
const FULL_EXAMPLE = `${EXAMPLE} --street-name "18 de Julio 1234" --locality-name Salto --department-name Salto`;

/** What the rules of the API make of a branch that was typed. */
const branchOf = ({ branch, ...facts }: z.output<typeof WHOLE>) =>
  required(CreateBranch, {
    branch: typedNumber(branch),
    street_name: facts.streetName,
    locality_name: facts.localityName,
    department_name: facts.departmentName,
    ...(facts.phoneNumber === undefined ? {} : { phone_number: facts.phoneNumber }),
  });
const codeOf = (branch: string): number =>
  required(CreateBranch.pick({ branch: true }), { branch: typedNumber(branch) }).branch;

/** The branches as they stand, the enterprise's own first. */
async function branchesOf({ orm, branchObject }: CliDeps, rut: string): Promise<Row[]> {
  const em = orm.em.fork();
  const enterprise = await findEnterprise(em, rut);
  if (!enterprise) throw new Refusal('NOT_FOUND', `No enterprise with RUT ${rut} is registered.`);
  return [enterprise, ...(await listBranches(em, rut))].map(branchObject);
}

const list = defineVerb({
  name: 'list',
  summary: 'List the branches of an enterprise, its own first, closed ones too',
  reads: true,
  args: { RUT: ARGS.RUT },
  examples: ['219999830019'],
  input: z.strictObject({ rut: Rut }),
  run: (deps, { rut }) => branchesOf(deps, rut),
});

const add = defineVerb({
  name: 'add',
  summary: 'Add a branch that the authority knows, or open a closed one again',
  args: ARGS,
  options: FACTS,
  examples: [FULL_EXAMPLE],
  input: WHOLE,
  async run(deps, { rut, ...given }) {
    return deps.branchObject(await addBranch(deps, { rut, body: branchOf({ rut, ...given }) }));
  },
});

const update = defineVerb({
  name: 'update',
  summary: 'Put what is told of a branch in the place of what was',
  args: ARGS,
  options: FACTS,
  examples: [FULL_EXAMPLE],
  input: WHOLE,
  async run(deps, { rut, ...given }) {
    const { branch, ...body } = branchOf({ rut, ...given });
    return deps.branchObject(await updateBranch(deps, { rut, branch, body }));
  },
});

const remove = defineVerb({
  name: 'remove',
  summary: 'End a branch: one that CFEs were issued from is closed, another is deleted',
  args: ARGS,
  examples: [EXAMPLE],
  input: KEY,
  async run(deps, { rut, branch }) {
    await removeBranch(deps, { rut, branch: codeOf(branch) });
    return branchesOf(deps, rut);
  },
});

/** `cfe branch`: the branches of enterprises. */
export const branch: Group = {
  name: 'branch',
  summary: 'The branches that an enterprise issues from',
  verbs: [list, add, update, remove],
};
