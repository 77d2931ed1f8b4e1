import * as z from 'zod';
import { changePermission } from '../../commands/changePermission.ts';
import { createEnterprise } from '../../commands/createEnterprise.ts';
import { resumeEnterprise } from '../../commands/resumeEnterprise.ts';
import { suspendEnterprise } from '../../commands/suspendEnterprise.ts';
import { transferEnterprise } from '../../commands/transferEnterprise.ts';
import { updateEnterprise } from '../../commands/updateEnterprise.ts';
import { validateCredentials } from '../../commands/validateCredentials.ts';
import { requireAccount } from '../../db/accounts.ts';
import { enterpriseObjectOf, enterpriseObjects } from '../../db/enterpriseObjects.ts';
import { findEnterprise, listEnterprises } from '../../db/enterprises.ts';
import type { Enterprise } from '../../db/entities/Enterprise.ts';
import { typedNumber } from '../../domain/decimal.ts';
import { CreateEnterprise, UpdateEnterprise, ValidateCredentials } from '../../domain/enterprise.ts';
import type { EnterpriseObject } from '../../domain/enterpriseObject.ts';
import { ENTERPRISE_STATUSES, PERMISSIONS } from '../../domain/enterpriseStatus.ts';
import { required } from '../../domain/faults.ts';
import { readRows } from '../../domain/operatorFiles.ts';
import { Rut } from '../../domain/rut.ts';
import { REASON_LENGTH } from '../../domain/supportAction.ts';
import { text } from '../../domain/text.ts';
import { Refusal } from '../../errors.ts';
import { REASON, Why } from '../reason.ts';
import { type CliDeps, defineVerb, type Group, type Row } from '../verb.ts';

const ARGS = { RUT: 'RUT of the enterprise' };
const EXAMPLES = ['219999830019'];

/** The enterprise object as the API tells it, without the role, which is a caller's. */
async function oneOf({ orm, clock }: CliDeps, rut: string): Promise<Row> {
  const em = orm.em.fork();
  const enterprise = await findEnterprise(em, rut);
  if (!enterprise) throw new Refusal('NOT_FOUND', `No enterprise with RUT ${rut} is registered.`);
  return rowOf(await enterpriseObjectOf(em, enterprise, clock()), enterprise);
}

const rowOf = (object: EnterpriseObject, enterprise: Enterprise | undefined): Row => ({
  ...object,
  role: null,
  owner_account_id: enterprise?.ownerAccountId ?? null,
  suspension_reason: enterprise?.suspensionReason ?? null,
});

const list = defineVerb({
  name: 'list',
  summary: 'List enterprises: all, or those with one status',
  reads: true,
  options: [
    { flags: '--status <status>', about: 'only enterprises with this status', choices: ENTERPRISE_STATUSES },
  ],
  examples: ['', '--status SUSPENDED --json'],
  columns: ['rut', 'legal_name', 'status', 'is_authorized_issuer', 'scheduled_ready_date', 'plan_metadata'],
  input: z.strictObject({ status: z.enum(ENTERPRISE_STATUSES).optional() }),
  async run({ orm, clock }, { status }) {
    const em = orm.em.fork();
    const enterprises = await listEnterprises(em, { status });
    const objects = await enterpriseObjects(em, enterprises, clock());
    return objects.map((object, i) => rowOf(object, enterprises[i]));
  },
});

const show = defineVerb({
  name: 'show',
  summary: 'Show one enterprise',
  reads: true,
  args: ARGS,
  examples: EXAMPLES,
  input: z.strictObject({ rut: Rut }),
  run: (deps, { rut }) => oneOf(deps, rut),
});

/** What a receipt says of its issuer, by the API's names; each may be given when the enterprise is made and later. */
const DATA = {
  legal_name: 'legal name, as registered',
  trade_name: 'trade name',
  department_name: 'department of the fiscal address',
  locality_name: 'locality of the fiscal address',
  street_name: 'street and number of the fiscal address',
  branch: 'code that the authority gave to this branch',
  phone_number: 'telephone',
} as const;
/** What is known only later. */
const LATER = {
  email: 'where answers to e-mailed receipts go',
  website: 'where receivers may verify a receipt, as it is printed',
  issuer_since: 'the day on which it joined the regime, YYYY-MM-DD',
  resolution: 'the resolution that made it an issuer: number/year',
  plan_id: 'the plan, as `plan list` has it',
  frequency_id: 'how often the plan is paid',
  scheduled_ready_date: 'from when on it issues, in Montevideo: YYYY-MM-DDTHH:MM:SS',
} as const;
const REMOVABLE = [
  'trade_name',
  'phone_number',
  'email',
  'website',
  'issuer_since',
  'resolution',
  'logo_b64',
] as const;

const flagOf = (field: string): `--${string}` => `--${field.replaceAll('_', '-')} <text>`;
const camel = (field: string): string => field.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

const optionsFor = (fields: Readonly<Record<string, string>>, required: readonly string[] = []) =>
  Object.entries(fields).map(([field, about]) => ({
    flags: flagOf(field),
    about,
    ...(required.includes(field) ? ({ required: true } as const) : {}),
  }));

/** The body that the API would be sent: the options that were given, by the API's names. */
const bodyOf = (fields: readonly string[], given: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(
    fields.flatMap((field) => {
      const value = given[camel(field)];
      if (typeof value !== 'string') return [];
      return [[field, field === 'branch' ? typedNumber(value) : value]];
    }),
  );

/** Texts as they are typed; the rules of the API judge them. */
const typed = (fields: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.keys(fields).map((field) => [camel(field), z.string().optional()]));

const create = defineVerb({
  name: 'create',
  summary: 'Register an enterprise for an account, which owns it then',
  args: { ACCOUNT: 'id of the account', ...ARGS },
  options: [
    ...optionsFor(DATA, ['legal_name', 'department_name', 'locality_name', 'street_name', 'branch']),
    { flags: '--new', about: 'the company is just starting operations' },
  ],
  examples: [
    '0c0e1ab1-0000-4000-8000-000000000001 219999830019 --legal-name "Empresa SA" --department-name Montevideo --locality-name Montevideo --street-name "Rincón 500" --branch 1',
  ],
  input: z.strictObject({
    account: z.string(),
    rut: Rut,
    ...typed(DATA),
    new: z.boolean().optional(),
  }),
  async run(deps, { account, rut, new: isNew, ...given }) {
    const data = bodyOf(Object.keys(DATA), given);
    const body = required(CreateEnterprise, { rut, ...data, ...(isNew ? { is_new_enterprise: true } : {}) });
    const { id: accountId } = await requireAccount(deps.orm.em.fork(), account);
    await createEnterprise(deps, { accountId, enterprise: body });
    return oneOf(deps, rut);
  },
});

const update = defineVerb({
  name: 'update',
  summary: 'Correct an enterprise’s data, or set its plan and start date; what is left out stays',
  args: ARGS,
  options: [
    ...optionsFor({ ...DATA, ...LATER }),
    { flags: '--logo <file>', about: 'PNG or JPEG that is printed on receipts' },
    {
      flags: '--remove <field...>',
      about: 'what is to be there no more; repeat for more',
      choices: REMOVABLE,
    },
  ],
  examples: [
    '219999830019 --plan-id FREE --frequency-id MONTHLY --scheduled-ready-date 2026-12-01T00:00:00',
    '219999830019 --trade-name "La Nueva" --remove email',
  ],
  input: z.strictObject({
    rut: Rut,
    ...typed({ ...DATA, ...LATER }),
    logo: z.string().optional(),
    remove: z.array(z.enum(REMOVABLE)).optional(),
  }),
  async run(deps, { rut, logo, remove = [], ...given }) {
    const body = required(UpdateEnterprise, {
      ...bodyOf(Object.keys({ ...DATA, ...LATER }), given),
      ...(logo === undefined ? {} : { logo_b64: deps.readBytes(logo).toString('base64') }),
      ...Object.fromEntries(remove.map((field) => [field, null])),
    });
    await updateEnterprise({ ...deps, checkoutUrl: deps.checkoutUrl() }, { rut, update: body });
    return oneOf(deps, rut);
  },
});

const validate = defineVerb({
  name: 'validate',
  summary: 'Have the authority check the e-invoicing login: the stored one, or that of a file',
  args: ARGS,
  options: [
    {
      flags: '--login-file <file>',
      about: 'JSON: {"username", "password"}, - for standard input; takes the place of the stored login',
    },
  ],
  examples: ['219999830019', '219999830019 --login-file login.json'],
  input: z.strictObject({ rut: Rut, loginFile: z.string().optional() }),
  async run(deps, { rut, loginFile }) {
    const login = loginFile === undefined ? {} : readRows(ValidateCredentials, deps.readFile(loginFile));
    const enterprise = await findEnterprise(deps.orm.em.fork(), rut);
    if (!enterprise) throw new Refusal('NOT_FOUND', `No enterprise with RUT ${rut} is registered.`);
    const secrets = {
      sealer: deps.sealer(),
      requestHash: deps.requestHash(),
      certificateAuthorities: deps.certificateAuthorities(),
    };
    // Counted for its owner: whoever else asks is none of the accounts that may guess at a login.
    const accountId = enterprise.ownerAccountId;
    await validateCredentials({ ...deps, ...secrets }, { accountId, rut, login });
    return oneOf(deps, rut);
  },
});

const lookUp = defineVerb({
  name: 'look-up',
  summary: 'Ask the authority’s registry (eRUT) about a RUT, registered here or not',
  reads: true,
  args: { RUT: 'any RUT' },
  examples: EXAMPLES,
  input: z.strictObject({ rut: Rut }),
  async run(deps, { rut }) {
    const record = await deps.lookUpRut(rut);
    if (!record) throw new Refusal('NOT_FOUND', `The tax authority's registry does not have the RUT ${rut}.`);
    return record;
  },
});

const suspend = defineVerb({
  name: 'suspend',
  summary: 'Stop an enterprise from issuing; CFEs already taken are still sent',
  args: ARGS,
  options: [
    { flags: '--reason <text>', about: 'why; kept while the enterprise is suspended', required: true },
  ],
  examples: ['219999830019 --reason "Falta de pago"'],
  input: z.strictObject({ rut: Rut, reason: text(REASON_LENGTH) }),
  async run(deps, { rut, reason }) {
    await suspendEnterprise(deps, { rut, reason });
    return oneOf(deps, rut);
  },
});

const resume = defineVerb({
  name: 'resume',
  summary: 'Let a suspended enterprise issue again',
  args: ARGS,
  options: [REASON],
  examples: EXAMPLES,
  input: z.strictObject({ rut: Rut, ...Why }),
  async run(deps, { rut, reason }) {
    await resumeEnterprise(deps, { rut, reason });
    return oneOf(deps, rut);
  },
});

const permissions = defineVerb({
  name: 'permissions',
  summary: 'Grant a permission of the authority, or withdraw it, where its answer cannot be had by machine',
  args: ARGS,
  options: [
    { flags: '--grant <permission>', about: `the permission to grant: ${PERMISSIONS.join(' or ')}` },
    { flags: '--withdraw <permission>', about: 'the permission to withdraw' },
    {
      flags: '--reason <text>',
      about: 'why, such as the notice of the authority; kept in the audit',
      required: true,
    },
  ],
  examples: ['219999830019 --grant PROD --reason "Resolution 1234/2026 of DGI"'],
  input: z.strictObject({
    rut: Rut,
    grant: z.enum(PERMISSIONS).optional(),
    withdraw: z.enum(PERMISSIONS).optional(),
    reason: text(REASON_LENGTH),
  }),
  async run(deps, { rut, grant, withdraw, reason }) {
    const permission = grant ?? withdraw;
    if (permission === undefined || (grant !== undefined && withdraw !== undefined)) {
      throw new Refusal('INVALID_INPUT', 'Exactly one of --grant and --withdraw must be given.');
    }
    await changePermission(deps, { rut, permission, held: grant !== undefined, reason });
    return oneOf(deps, rut);
  },
});

const transfer = defineVerb({
  name: 'transfer',
  summary: 'Make another account the owner; the one before has no role there any more',
  args: { ...ARGS, ACCOUNT: 'id of the account that will own it' },
  options: [
    { flags: '--reason <text>', about: 'how the account proved that the company is theirs', required: true },
  ],
  examples: ['219999830019 0c0e1ab1-0000-4000-8000-000000000001 --reason "Poder notarial del 3/11"'],
  input: z.strictObject({ rut: Rut, account: z.string(), reason: text(REASON_LENGTH) }),
  async run(deps, { rut, account, reason }) {
    await transferEnterprise(deps, { rut, accountId: account, reason });
    return oneOf(deps, rut);
  },
});

/** `cfe enterprise`: the enterprises that issue. */
export const enterprise: Group = {
  name: 'enterprise',
  summary: 'Enterprises, which issue CFEs',
  verbs: [list, show, create, update, validate, lookUp, suspend, resume, transfer, permissions],
};
