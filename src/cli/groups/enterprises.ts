import * as z from 'zod';
import { addBranch, removeBranch, updateBranch } from '../../commands/enterprises/branches.ts';
import { changePermission } from '../../commands/enterprises/changePermission.ts';
import { createEnterprise } from '../../commands/enterprises/createEnterprise.ts';
import { createCustomer, deleteCustomer, updateCustomer } from '../../commands/enterprises/customers.ts';
import { migrateEnterprise } from '../../commands/enterprises/migrateEnterprise.ts';
import { requestCredentialsCheck } from '../../commands/enterprises/requestCredentialsCheck.ts';
import { setIdemisor } from '../../commands/enterprises/setIdemisor.ts';
import { endEnterprise, resumeEnterprise, suspendEnterprise } from '../../commands/enterprises/suspension.ts';
import { previewTransfer, transferEnterprise } from '../../commands/enterprises/transferEnterprise.ts';
import { updateEnterprise } from '../../commands/enterprises/updateEnterprise.ts';
import { replaceSandboxCae } from '../../commands/numbers/sandboxCae.ts';
import { buildEnterpriseObjects, findEnterprises, listBranches } from '../../db/enterprises/enterprises.ts';
import { requireAccount } from '../../db/people/accounts.ts';
import { FIRST_IDEMISOR, LAST_IDEMISOR } from '../../domain/authority/sobre.ts';
import { CustomerBody } from '../../domain/enterprises/customer.ts';
import {
  CreateBranch,
  CreateEnterprise,
  UpdateEnterprise,
  ValidateCredentials,
} from '../../domain/enterprises/enterprise.ts';
import { BRANCH_FIELDS, ENTERPRISE_FIELDS, FIRST_FIELDS } from '../../domain/enterprises/enterpriseFields.ts';
import { caeObject } from '../../domain/enterprises/enterpriseObject.ts';
import { PERMISSIONS } from '../../domain/enterprises/enterpriseStatus.ts';
import { readRows } from '../../domain/operations/operatorFiles.ts';
import { LAST_NUMBER } from '../../domain/operations/parseSearch.ts';
import { omitUndefined } from '../../domain/receipts/cfeContent.ts';
import { CFE_TYPE_NAMES } from '../../domain/receipts/cfeTypes.ts';
import { DOCUMENT_TYPES } from '../../domain/receipts/receiverDocument.ts';
import { parseOrRefuse } from '../../domain/requests/faults.ts';
import { type ApiField, type FieldTable, removableColumns } from '../../domain/requests/fields.ts';
import { parseTypedInteger } from '../../domain/values/decimal.ts';
import { Rut } from '../../domain/values/rut.ts';
import { Refusal } from '../../errors.ts';
import { CUSTOMERS } from '../../lists/customers.ts';
import { BRANCHES, ENTERPRISES } from '../../lists/enterprises.ts';
import { branchView } from '../../views/enterprises/branch.ts';
import { customerView } from '../../views/enterprises/customer.ts';
import { erutView } from '../../views/enterprises/erut.ts';
import {
  AccountIdInput,
  dayOption,
  EnvironmentInput,
  flagOption,
  OptionalReasonInput,
  optionalInput,
  ReasonInput,
  RutInput,
  requireEnterpriseOfRut,
  wholeNumberInput,
} from '../inputs.ts';
import { listedRow, listVerb } from '../listVerb.ts';
import { actingVerb, type CliDeps, type OutputRow, readVerb, verbGroup } from '../verb.ts';

/** Returns the first part of a field's description, for the help. */
const describeField = ({ words, kind }: ApiField): string => {
  const [about = ''] = words.description.split(/\. |\.$|; null/);
  return `${about.charAt(0).toLowerCase()}${about.slice(1)}${kind === 'day' ? ', YYYY-MM-DD' : ''}`;
};

/** Schemas of typed values that are not text. */
const VALUE_SCHEMAS: Partial<Record<ApiField['kind'], () => z.ZodType>> = {
  code: () => z.string().transform(parseTypedInteger),
  flag: () => z.enum(['yes', 'no']).transform((typed) => typed === 'yes'),
};

const placeholderOf = ({ kind, schema }: ApiField): string => {
  if (kind === 'choice' && schema instanceof z.ZodEnum) return schema.options.join('|');
  return kind === 'flag' ? 'yes|no' : 'text';
};

/** Returns fields of the API as options. The command checks the values. */
const fieldOptions = <T extends FieldTable>(fields: T, { isNew }: { isNew: boolean }) =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]): [string, z.ZodType] => {
      const value = VALUE_SCHEMAS[field.kind]?.() ?? z.string();
      const schema = isNew && !field.optional ? value : value.optional();
      return [name, schema.meta({ description: describeField(field), placeholder: placeholderOf(field) })];
    }),
  ) as Record<keyof T & string, z.ZodType>;

const PLAN = {
  plan_id: optionalInput(z.string(), 'the plan, as listed by `plan list`', 'text'),
  frequency_id: optionalInput(z.string(), 'how often the plan is paid', 'text'),
  scheduled_ready_date: optionalInput(
    z.string(),
    'start of issuing, in Montevideo: YYYY-MM-DDTHH:MM:SS',
    'text',
  ),
};
const REMOVABLE = [...Object.keys(removableColumns(ENTERPRISE_FIELDS)), 'logo_b64'];

const RUT = '219999830019';
const ACCOUNT = '0c0e1ab1-0000-4000-8000-000000000001';

/** Returns the objects of enterprises, by RUT, with what only operators see. */
async function enterpriseRows({ orm, clock }: CliDeps, ruts: readonly string[]): Promise<OutputRow[]> {
  const em = orm.em.fork();
  const enterprises = await findEnterprises(em, ruts);
  const objects = await buildEnterpriseObjects(em, enterprises, clock());
  return enterprises.map((enterprise, i) => ({
    ...objects[i],
    // Only a caller of the API has a role.
    role: null,
    owner_account_id: enterprise.ownerAccountId,
    suspension_reason: enterprise.suspensionReason ?? null,
  }));
}

async function showEnterprise(deps: CliDeps, rut: string): Promise<OutputRow> {
  await requireEnterpriseOfRut(deps.orm.em.fork(), rut);
  const [row = {}] = await enterpriseRows(deps, [rut]);
  return row;
}

export const enterpriseGroup = verbGroup('enterprise', 'Enterprises, which issue CFEs', {
  list: listVerb(ENTERPRISES, {
    summary: 'List enterprises by RUT, with what each lacks to issue',
    examples: ['', '--status SUSPENDED --json', '--lacks okCae'],
    columns: 'rut legal_name status is_authorized_issuer scheduled_ready_date plan_metadata',
    search: ({ clock }, filter) => ({ ...filter, accounts: null, now: clock() }),
    rows: (deps, listed) =>
      enterpriseRows(
        deps,
        listed.map(({ rut }) => rut),
      ),
  }),
  'show RUT': readVerb({
    summary: 'Show one enterprise',
    takes: { rut: RutInput },
    examples: [RUT],
    run: (deps, { rut }) => showEnterprise(deps, rut),
  }),
  'create ACCOUNT RUT': actingVerb({
    summary: 'Register an enterprise, owned by an account',
    takes: {
      account: AccountIdInput,
      rut: RutInput,
      ...fieldOptions(FIRST_FIELDS, { isNew: true }),
      new: flagOption('the company is just starting operations'),
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
      return showEnterprise(deps, data.rut);
    },
  }),
  'update RUT': actingVerb({
    summary: 'Correct an enterprise’s data, or set its plan and start date; omitted fields stay',
    takes: {
      rut: RutInput,
      ...fieldOptions(ENTERPRISE_FIELDS, { isNew: false }),
      ...PLAN,
      logo: optionalInput(z.string(), 'PNG or JPEG to print on receipts', 'file'),
      remove: z
        .array(z.enum(REMOVABLE))
        .default([])
        .meta({ description: 'a field to clear; repeat for more', placeholder: 'field' }),
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
      return showEnterprise(deps, rut);
    },
  }),
  'validate RUT': actingVerb({
    summary: 'Have the authority check the e-invoicing login: the stored one, or one from a file',
    takes: {
      rut: RutInput,
      loginFile: optionalInput(
        z.string(),
        'JSON: {"username", "password"}, - for standard input; replaces the stored login',
      ),
    },
    examples: [RUT, `${RUT} --login-file login.json`],
    async run(deps, { rut, loginFile }) {
      const login = loginFile === undefined ? {} : readRows(ValidateCredentials, deps.readFile(loginFile));
      // Counts against the owner's limit on guessing: operators have no limit.
      const { ownerAccountId: accountId } = await requireEnterpriseOfRut(deps.orm.em.fork(), rut);
      const secrets = {
        sealer: deps.sealer(),
        requestHash: deps.requestHash(),
        certificateAuthorities: deps.certificateAuthorities(),
      };
      await requestCredentialsCheck({ ...deps, ...secrets }, { accountId, rut, login });
      return showEnterprise(deps, rut);
    },
  }),
  'look-up RUT': readVerb({
    summary: 'Look up a RUT in the authority’s registry (eRUT), registered here or not',
    takes: { rut: Rut.describe('any RUT') },
    examples: [RUT],
    async run(deps, { rut }) {
      const record = await deps.lookUpRut(rut);
      if (record) return erutView(record);
      throw new Refusal('NOT_FOUND', `The tax authority's registry does not have the RUT ${rut}.`);
    },
  }),
  'suspend RUT': actingVerb({
    summary: 'Stop an enterprise from issuing; stored CFEs are still sent',
    takes: { rut: RutInput, reason: ReasonInput.describe('why; kept while the enterprise is suspended') },
    examples: [`${RUT} --reason "Falta de pago"`],
    async run(deps, input) {
      await suspendEnterprise(deps, input);
      return showEnterprise(deps, input.rut);
    },
  }),
  'end RUT': actingVerb({
    summary: 'End the contract with an enterprise: it stays suspended, and `provider-report` names it',
    takes: { rut: RutInput, reason: ReasonInput },
    examples: [`${RUT} --reason "Changed to another system"`],
    async run(deps, input) {
      await endEnterprise(deps, input);
      return showEnterprise(deps, input.rut);
    },
  }),
  'resume RUT': actingVerb({
    summary: 'Let a suspended enterprise issue again, also one whose contract ended',
    takes: { rut: RutInput, reason: OptionalReasonInput },
    examples: [RUT],
    async run(deps, input) {
      await resumeEnterprise(deps, input);
      return showEnterprise(deps, input.rut);
    },
  }),
  'transfer RUT ACCOUNT': actingVerb({
    summary:
      'Make another account the owner. Without a certificate that proves ownership, the data of the previous owner is removed',
    takes: {
      rut: RutInput,
      account: z.string().describe('id of the account that will own it'),
      reason: ReasonInput.describe('how the account proved its ownership of the company'),
      dryRun: flagOption('only show what would be removed'),
    },
    examples: [
      `${RUT} ${ACCOUNT} --reason "Poder notarial del 3/11" --dry-run`,
      `${RUT} ${ACCOUNT} --reason "Poder notarial del 3/11"`,
    ],
    async run(deps, { rut, account: accountId, reason, dryRun }) {
      const transferDeps = { ...deps, certificateAuthorities: deps.certificateAuthorities() };
      const removed = dryRun
        ? await previewTransfer(transferDeps, { rut, accountId })
        : await transferEnterprise(transferDeps, { rut, accountId, reason });
      return { ...(await showEnterprise(deps, rut)), removed };
    },
  }),
  'sandbox-cae RUT': actingVerb({
    summary: 'Set the invented CAE of the sandbox for one type, by the authority’s rule for tests',
    takes: {
      rut: RutInput,
      type: z.enum(CFE_TYPE_NAMES).describe('type of CFE'),
      serie: optionalInput(z.string(), 'default: A'),
      from: optionalInput(wholeNumberInput(1, LAST_NUMBER), 'first number; default: 1'),
      to: optionalInput(wholeNumberInput(1, LAST_NUMBER), `last number; default: ${LAST_NUMBER}`),
      number: optionalInput(z.string(), 'authorization number; default: 90aa000xxx0'),
      expires: dayOption('default: the end of the next year'),
    },
    examples: [`${RUT} --type ETICKET`, `${RUT} --type ETICKET --serie B --from 1 --to 1000`],
    async run(deps, { rut, type, serie, from, to, number, expires }) {
      const range = omitUndefined({
        serie,
        numberStart: from,
        numberEnd: to,
        authorizationNumber: number,
        expirationDate: expires,
      });
      return caeObject(await replaceSandboxCae(deps, { rut, type, own: range }), deps.clock());
    },
  }),
  'idemisor RUT': actingVerb({
    summary: 'Set the number of the next sobre (Idemisor), above all that this or another system used',
    takes: {
      rut: RutInput,
      from: wholeNumberInput(FIRST_IDEMISOR, LAST_IDEMISOR).describe('the number of the next sobre'),
      environment: EnvironmentInput,
      reason: ReasonInput,
    },
    examples: [`${RUT} --from 5000000001 --reason "The other system counted to 4999999999"`],
    async run(deps, { from: next, ...input }) {
      await setIdemisor(deps, { ...input, next });
      return { rut: input.rut, environment: input.environment, idemisor: next };
    },
  }),
  'migrate RUT': actingVerb({
    summary: 'Move an enterprise in from another system at the start of a day; shows what else must be done',
    takes: {
      rut: RutInput,
      from: z.iso.date().describe('the first day here, YYYY-MM-DD; the other system reports the days before'),
      idemisor: optionalInput(
        wholeNumberInput(FIRST_IDEMISOR, LAST_IDEMISOR),
        'the number of the next sobre, above all that the other system used',
      ),
      reason: ReasonInput,
    },
    examples: [`${RUT} --from 2026-12-01 --idemisor 5000000001 --reason "Comes from another provider"`],
    async run(deps, input) {
      const { reportsFrom, idemisor, todo } = await migrateEnterprise(deps, input);
      return { reports_from: reportsFrom, idemisor: Number(idemisor), todo };
    },
  }),
  'permissions RUT': actingVerb({
    summary: 'Grant or withdraw a permission of the authority, when its answer cannot be read by machine',
    takes: {
      rut: RutInput,
      grant: optionalInput(z.enum(PERMISSIONS), 'the permission to grant', 'permission'),
      withdraw: optionalInput(z.enum(PERMISSIONS), 'the permission to withdraw', 'permission'),
      reason: ReasonInput.describe('why, such as the notice of the authority; kept in the audit'),
    },
    examples: [`${RUT} --grant PROD --reason "Resolution 1234/2026 of DGI"`],
    async run(deps, { rut, grant, withdraw, reason }) {
      const permission = grant ?? withdraw;
      if (permission === undefined || (grant !== undefined && withdraw !== undefined)) {
        throw new Refusal('INVALID_INPUT', 'Exactly one of --grant and --withdraw must be given.');
      }
      await changePermission(deps, { rut, permission, held: grant !== undefined, reason });
      return showEnterprise(deps, rut);
    },
  }),
});

const BranchCode = z.string().transform(parseTypedInteger).describe('the authority’s code of the branch');
const WHOLE_BRANCH = { rut: RutInput, branch: BranchCode, ...fieldOptions(BRANCH_FIELDS, { isNew: true }) };
const BRANCH_EXAMPLE = `${RUT} 2 --street-name "18 de Julio 1234" --locality-name Salto --department-name Salto`;

const branchesOf = async ({ orm }: CliDeps, rut: string): Promise<OutputRow[]> =>
  (await listBranches(orm.em.fork(), rut)).map((branch) => listedRow(BRANCHES, branch));

export const branchGroup = verbGroup('branch', 'The branches of enterprises', {
  'list RUT': listVerb(BRANCHES, {
    summary: 'List the branches of an enterprise, its first one on top, including closed ones',
    takes: { rut: RutInput },
    examples: [RUT],
    async search({ orm }, { rut }) {
      await requireEnterpriseOfRut(orm.em.fork(), rut);
      return { rut };
    },
  }),
  'add RUT BRANCH': actingVerb({
    summary: 'Add a branch registered with the authority, or reopen a closed one',
    takes: WHOLE_BRANCH,
    examples: [BRANCH_EXAMPLE],
    run: async (deps, { rut, ...data }) =>
      branchView(await addBranch(deps, { rut, body: parseOrRefuse(CreateBranch, data) })),
  }),
  'update RUT BRANCH': actingVerb({
    summary: 'Replace the data of a branch',
    takes: WHOLE_BRANCH,
    examples: [BRANCH_EXAMPLE],
    async run(deps, { rut, ...data }) {
      const { branch: code, ...body } = parseOrRefuse(CreateBranch, data);
      return branchView(await updateBranch(deps, { rut, branch: code, body }));
    },
  }),
  'remove RUT BRANCH': actingVerb({
    summary: 'Close a branch from which CFEs were issued; delete any other',
    takes: { rut: RutInput, branch: BranchCode },
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
  rut: RutInput,
  type: z.enum(DOCUMENT_TYPES).describe(`kind of its document: ${DOCUMENT_TYPES.join(', ')}`),
  number: z.string().describe('its number'),
};
const CustomerFile = z.string().describe('JSON as for POST …/customers; - for standard input');

export const customerGroup = verbGroup(
  'customer',
  'The saved customers of enterprises, and the addresses for their receipts',
  {
    'list RUT': listVerb(CUSTOMERS, {
      summary: 'List the customers of an enterprise by name',
      takes: { rut: RutInput },
      columns: 'doc_type doc_number legal_name city country_code',
      rows: async (_, customers) => customers.map(customerView),
      examples: [RUT, `${RUT} --legal-name panader --json`],
      async search({ orm }, filter) {
        await requireEnterpriseOfRut(orm.em.fork(), filter.rut);
        return filter;
      },
    }),
    'add RUT FILE': actingVerb({
      summary: 'Add a customer to an enterprise',
      takes: { rut: RutInput, file: CustomerFile },
      examples: [`${RUT} customer.json`],
      async run(deps, { rut, file }) {
        const body = readRows(CustomerBody, deps.readFile(file));
        await requireEnterpriseOfRut(deps.orm.em.fork(), rut);
        return customerView(await createCustomer(deps, { rut, customer: body }));
      },
    }),
    'update RUT TYPE NUMBER FILE': actingVerb({
      summary: 'Replace the data of a customer',
      takes: { ...DOCUMENT, file: CustomerFile },
      examples: ['219000090011 RUC 219999820013 customer.json'],
      async run(deps, { rut, type: docType, number: docNumber, file }) {
        const body = readRows(CustomerBody, deps.readFile(file));
        return customerView(await updateCustomer(deps, { rut, docType, docNumber, customer: body }));
      },
    }),
    'remove RUT TYPE NUMBER': actingVerb({
      summary: 'Delete a customer; its CFEs stay',
      takes: DOCUMENT,
      examples: ['219000090011 RUC 219999820013'],
      async run(deps, { rut, type: docType, number: docNumber }) {
        await deleteCustomer(deps, { rut, docType, docNumber });
        return { rut, doc_type: docType, doc_number: docNumber, removed: true };
      },
    }),
  },
);
