import * as z from 'zod';
import { addBranch, removeBranch, updateBranch } from '../../commands/branches.ts';
import { changePermission } from '../../commands/changePermission.ts';
import { createEnterprise } from '../../commands/createEnterprise.ts';
import { createCustomer, deleteCustomer, updateCustomer } from '../../commands/customers.ts';
import { requestCredentialsCheck } from '../../commands/requestCredentialsCheck.ts';
import { resumeEnterprise, suspendEnterprise } from '../../commands/suspension.ts';
import { previewTransfer, transferEnterprise } from '../../commands/transferEnterprise.ts';
import { updateEnterprise } from '../../commands/updateEnterprise.ts';
import { requireAccount } from '../../db/accounts.ts';
import { findCustomers } from '../../db/customers.ts';
import {
  buildEnterpriseObject,
  buildEnterpriseObjects,
  findBranches,
  findEnterprises,
} from '../../db/enterprises.ts';
import type { Enterprise } from '../../db/entities/enterprises.ts';
import { CustomerBody } from '../../domain/customer.ts';
import { parseTypedNumber } from '../../domain/decimal.ts';
import {
  CreateBranch,
  CreateEnterprise,
  UpdateEnterprise,
  ValidateCredentials,
} from '../../domain/enterprise.ts';
import { BRANCH_FIELDS, ENTERPRISE_FIELDS, FIRST_FIELDS } from '../../domain/enterpriseFields.ts';
import type { EnterpriseObject } from '../../domain/enterpriseObject.ts';
import { ENTERPRISE_STATUSES, PERMISSIONS } from '../../domain/enterpriseStatus.ts';
import { parseOrRefuse } from '../../domain/faults.ts';
import { type Field, type FieldTable, removableColumns } from '../../domain/fields.ts';
import { readRows } from '../../domain/operatorFiles.ts';
import { DOCUMENT_TYPES } from '../../domain/receiverDocument.ts';
import { Rut } from '../../domain/rut.ts';
import { Refusal } from '../../errors.ts';
import { branchView } from '../../views/branch.ts';
import { customerView } from '../../views/customer.ts';
import { erutView } from '../../views/erut.ts';
import {
  AccountId,
  count,
  flag,
  limit,
  OfRut,
  OptionalReason,
  oneEnterprise,
  optional,
  Reason,
} from '../inputs.ts';
import { act, type CliDeps, group, query, type Row } from '../verb.ts';

/** A field in the words of the help: what it is, without its source. */
const said = ({ words, kind }: Field): string => {
  const [about = ''] = words.description.split(/\. |\.$|; null/);
  return `${about.charAt(0).toLowerCase()}${about.slice(1)}${kind === 'day' ? ', YYYY-MM-DD' : ''}`;
};

/** Fields as options, by the API's names; the rules of the API judge what is typed. */
const typed = <T extends FieldTable>(fields: T, { isNew }: { isNew: boolean }) =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]): [string, z.ZodType] => {
      const value = field.kind === 'code' ? z.string().transform(parseTypedNumber) : z.string();
      const schema = isNew && !field.optional ? value : value.optional();
      return [name, schema.meta({ description: said(field), placeholder: 'text' })];
    }),
  ) as Record<keyof T & string, z.ZodType>;

const PLAN = {
  plan_id: optional(z.string(), 'the plan, as `plan list` has it', 'text'),
  frequency_id: optional(z.string(), 'how often the plan is paid', 'text'),
  scheduled_ready_date: optional(
    z.string(),
    'from when on it issues, in Montevideo: YYYY-MM-DDTHH:MM:SS',
    'text',
  ),
};
const REMOVABLE = [...Object.keys(removableColumns(ENTERPRISE_FIELDS)), 'logo_b64'];

const RUT = '219999830019';
const ACCOUNT = '0c0e1ab1-0000-4000-8000-000000000001';

const rowOf = (object: EnterpriseObject, of: Enterprise | undefined): Row => ({
  ...object,
  // That of a caller of the API.
  role: null,
  owner_account_id: of?.ownerAccountId ?? null,
  suspension_reason: of?.suspensionReason ?? null,
});

async function show({ orm, clock }: CliDeps, rut: string): Promise<Row> {
  const em = orm.em.fork();
  const found = await oneEnterprise(em, rut);
  return rowOf(await buildEnterpriseObject(em, found, clock()), found);
}

export const enterprise = group('enterprise', 'Enterprises, which issue CFEs', {
  list: query({
    summary: 'List enterprises: all, or those with one status',
    takes: {
      status: optional(z.enum(ENTERPRISE_STATUSES), 'only enterprises with this status'),
    },
    examples: ['', '--status SUSPENDED --json'],
    columns: 'rut legal_name status is_authorized_issuer scheduled_ready_date plan_metadata',
    async run({ orm, clock }, { status }) {
      const em = orm.em.fork();
      const found = await findEnterprises(em, { status });
      const objects = await buildEnterpriseObjects(em, found, clock());
      return objects.map((object, i) => rowOf(object, found[i]));
    },
  }),
  'show RUT': query({
    summary: 'Show one enterprise',
    takes: { rut: OfRut },
    examples: [RUT],
    run: (deps, { rut }) => show(deps, rut),
  }),
  'create ACCOUNT RUT': act({
    summary: 'Register an enterprise for an account, which owns it then',
    takes: {
      account: AccountId,
      rut: OfRut,
      ...typed(FIRST_FIELDS, { isNew: true }),
      new: flag('the company is just starting operations'),
    },
    examples: [
      `${ACCOUNT} ${RUT} --legal-name "Empresa SA" --department-name Montevideo --locality-name Montevideo --street-name "Rincón 500" --branch 1`,
    ],
    async run(deps, { account, new: isNew, ...data }) {
      const body = parseOrRefuse(CreateEnterprise, {
        ...data,
        ...(isNew ? { is_new_enterprise: true } : {}),
      });
      const { id: accountId } = await requireAccount(deps.orm.em.fork(), account);
      await createEnterprise(deps, { accountId, enterprise: body });
      return show(deps, data.rut);
    },
  }),
  'update RUT': act({
    summary: 'Correct an enterprise’s data, or set its plan and start date; what is left out stays',
    takes: {
      rut: OfRut,
      ...typed(ENTERPRISE_FIELDS, { isNew: false }),
      ...PLAN,
      logo: optional(z.string(), 'PNG or JPEG that is printed on receipts', 'file'),
      remove: z
        .array(z.enum(REMOVABLE))
        .default([])
        .meta({ description: 'what is to be there no more; repeat for more', placeholder: 'field' }),
    },
    examples: [
      `${RUT} --plan-id FREE --frequency-id MONTHLY --scheduled-ready-date 2026-12-01T00:00:00`,
      `${RUT} --trade-name "La Nueva" --remove email`,
    ],
    async run(deps, { rut, logo, remove, ...data }) {
      const update = parseOrRefuse(UpdateEnterprise, {
        ...data,
        ...(logo === undefined ? {} : { logo_b64: deps.readBytes(logo).toString('base64') }),
        ...Object.fromEntries(remove.map((field) => [field, null])),
      });
      await updateEnterprise({ ...deps, checkoutUrl: deps.checkoutUrl() }, { rut, update });
      return show(deps, rut);
    },
  }),
  'validate RUT': act({
    summary: 'Have the authority check the e-invoicing login: the stored one, or that of a file',
    takes: {
      rut: OfRut,
      loginFile: optional(
        z.string(),
        'JSON: {"username", "password"}, - for standard input; takes the place of the stored login',
      ),
    },
    examples: [RUT, `${RUT} --login-file login.json`],
    async run(deps, { rut, loginFile }) {
      const login = loginFile === undefined ? {} : readRows(ValidateCredentials, deps.readFile(loginFile));
      // Counted for its owner: whoever else asks is none of the accounts that may guess at a login.
      const { ownerAccountId: accountId } = await oneEnterprise(deps.orm.em.fork(), rut);
      const secrets = {
        sealer: deps.sealer(),
        requestHash: deps.requestHash(),
        certificateAuthorities: deps.certificateAuthorities(),
      };
      await requestCredentialsCheck({ ...deps, ...secrets }, { accountId, rut, login });
      return show(deps, rut);
    },
  }),
  'look-up RUT': query({
    summary: 'Ask the authority’s registry (eRUT) about a RUT, registered here or not',
    takes: { rut: Rut.describe('any RUT') },
    examples: [RUT],
    async run(deps, { rut }) {
      const record = await deps.lookUpRut(rut);
      if (record) return erutView(record);
      throw new Refusal('NOT_FOUND', `The tax authority's registry does not have the RUT ${rut}.`);
    },
  }),
  'suspend RUT': act({
    summary: 'Stop an enterprise from issuing; CFEs already taken are still sent',
    takes: { rut: OfRut, reason: Reason.describe('why; kept while the enterprise is suspended') },
    examples: [`${RUT} --reason "Falta de pago"`],
    async run(deps, input) {
      await suspendEnterprise(deps, input);
      return show(deps, input.rut);
    },
  }),
  'resume RUT': act({
    summary: 'Let a suspended enterprise issue again',
    takes: { rut: OfRut, reason: OptionalReason },
    examples: [RUT],
    async run(deps, input) {
      await resumeEnterprise(deps, input);
      return show(deps, input.rut);
    },
  }),
  'transfer RUT ACCOUNT': act({
    summary:
      'Make another account the owner. Of an enterprise that no certificate proves, what the one before put there goes',
    takes: {
      rut: OfRut,
      account: z.string().describe('id of the account that will own it'),
      reason: Reason.describe('how the account proved that the company is theirs'),
      dryRun: flag('only show what would go'),
    },
    examples: [
      `${RUT} ${ACCOUNT} --reason "Poder notarial del 3/11" --dry-run`,
      `${RUT} ${ACCOUNT} --reason "Poder notarial del 3/11"`,
    ],
    async run(deps, { rut, account: accountId, reason, dryRun }) {
      const owning = { ...deps, certificateAuthorities: deps.certificateAuthorities() };
      const removed = dryRun
        ? await previewTransfer(owning, { rut, accountId })
        : await transferEnterprise(owning, { rut, accountId, reason });
      return { ...(await show(deps, rut)), removed };
    },
  }),
  'permissions RUT': act({
    summary: 'Grant a permission of the authority, or withdraw it, where its answer cannot be had by machine',
    takes: {
      rut: OfRut,
      grant: optional(z.enum(PERMISSIONS), 'the permission to grant', 'permission'),
      withdraw: optional(z.enum(PERMISSIONS), 'the permission to withdraw', 'permission'),
      reason: Reason.describe('why, such as the notice of the authority; kept in the audit'),
    },
    examples: [`${RUT} --grant PROD --reason "Resolution 1234/2026 of DGI"`],
    async run(deps, { rut, grant, withdraw, reason }) {
      const permission = grant ?? withdraw;
      if (permission === undefined || (grant !== undefined && withdraw !== undefined)) {
        throw new Refusal('INVALID_INPUT', 'Exactly one of --grant and --withdraw must be given.');
      }
      await changePermission(deps, { rut, permission, held: grant !== undefined, reason });
      return show(deps, rut);
    },
  }),
});

const BranchCode = z
  .string()
  .transform(parseTypedNumber)
  .describe('code that the authority gave to the branch');
const WHOLE_BRANCH = { rut: OfRut, branch: BranchCode, ...typed(BRANCH_FIELDS, { isNew: true }) };
const BRANCH_EXAMPLE = `${RUT} 2 --street-name "18 de Julio 1234" --locality-name Salto --department-name Salto`;

/** The branches as they stand, the enterprise's own first. */
async function branchesOf({ orm }: CliDeps, rut: string): Promise<Row[]> {
  const em = orm.em.fork();
  return [await oneEnterprise(em, rut), ...(await findBranches(em, rut))].map(branchView);
}

export const branch = group('branch', 'The branches that an enterprise issues from', {
  'list RUT': query({
    summary: 'List the branches of an enterprise, its own first, closed ones too',
    takes: { rut: OfRut },
    examples: [RUT],
    run: (deps, { rut }) => branchesOf(deps, rut),
  }),
  'add RUT BRANCH': act({
    summary: 'Add a branch that the authority knows, or open a closed one again',
    takes: WHOLE_BRANCH,
    examples: [BRANCH_EXAMPLE],
    run: async (deps, { rut, ...data }) =>
      branchView(await addBranch(deps, { rut, body: parseOrRefuse(CreateBranch, data) })),
  }),
  'update RUT BRANCH': act({
    summary: 'Put what is told of a branch in the place of what was',
    takes: WHOLE_BRANCH,
    examples: [BRANCH_EXAMPLE],
    async run(deps, { rut, ...data }) {
      const { branch: code, ...body } = parseOrRefuse(CreateBranch, data);
      return branchView(await updateBranch(deps, { rut, branch: code, body }));
    },
  }),
  'remove RUT BRANCH': act({
    summary: 'End a branch: one that CFEs were issued from is closed, another is deleted',
    takes: { rut: OfRut, branch: BranchCode },
    examples: [`${RUT} 2`],
    async run(deps, { rut, branch: code }) {
      await removeBranch(deps, {
        rut,
        ...parseOrRefuse(CreateBranch.pick({ branch: true }), { branch: code }),
      });
      return branchesOf(deps, rut);
    },
  }),
});

const DOCUMENT = {
  rut: OfRut,
  type: z.enum(DOCUMENT_TYPES).describe(`kind of its document: ${DOCUMENT_TYPES.join(' or ')}`),
  number: z.string().describe('its number'),
};
const CustomerFile = z.string().describe('JSON as POST …/customers takes it; - for standard input');

export const customer = group(
  'customer',
  'The customers that enterprises keep, and where receipts are e-mailed',
  {
    'list RUT': query({
      summary: 'List the customers of an enterprise by name',
      takes: {
        rut: OfRut,
        legalName: optional(
          z.string(),
          'only with this part in their names; accents and case are ignored',
          'part',
        ),
        docNumber: optional(z.string(), 'only with this document'),
        countryCode: optional(z.string(), 'only of this country'),
        skip: count(0, 1_000_000).default(0).describe('leave out so many; default: 0'),
        limit: limit(1_000, 100),
      },
      columns: 'doc_type doc_number legal_name city country_code',
      examples: [RUT, `${RUT} --legal-name panader --json`],
      async run({ orm }, { skip, limit: most, ...filter }) {
        const em = orm.em.fork();
        await oneEnterprise(em, filter.rut);
        return (await findCustomers(em, filter, { skip, limit: most })).map(customerView);
      },
    }),
    'add RUT FILE': act({
      summary: 'Keep a customer of an enterprise',
      takes: { rut: OfRut, file: CustomerFile },
      examples: [`${RUT} customer.json`],
      async run(deps, { rut, file }) {
        const body = readRows(CustomerBody, deps.readFile(file));
        await oneEnterprise(deps.orm.em.fork(), rut);
        return customerView(await createCustomer(deps, { rut, customer: body }));
      },
    }),
    'update RUT TYPE NUMBER FILE': act({
      summary: 'Put a customer in the place of what was kept of it',
      takes: { ...DOCUMENT, file: CustomerFile },
      examples: ['219000090011 RUC 219999820013 customer.json'],
      async run(deps, { rut, type: docType, number: docNumber, file }) {
        const body = readRows(CustomerBody, deps.readFile(file));
        return customerView(await updateCustomer(deps, { rut, docType, docNumber, customer: body }));
      },
    }),
    'remove RUT TYPE NUMBER': act({
      summary: 'Forget a customer; its CFEs stay',
      takes: DOCUMENT,
      examples: ['219000090011 RUC 219999820013'],
      async run(deps, { rut, type: docType, number: docNumber }) {
        await deleteCustomer(deps, { rut, docType, docNumber });
        return { rut, doc_type: docType, doc_number: docNumber, removed: true };
      },
    }),
  },
);
