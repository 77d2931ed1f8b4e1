/** Forms of an enterprise's page. */
import * as z from 'zod';
import { addBranch, removeBranch, updateBranch } from '../../../commands/enterprises/branches.ts';
import { changePermission } from '../../../commands/enterprises/changePermission.ts';
import { migrateEnterprise } from '../../../commands/enterprises/migrateEnterprise.ts';
import { requestCredentialsCheck } from '../../../commands/enterprises/requestCredentialsCheck.ts';
import { setIdemisor } from '../../../commands/enterprises/setIdemisor.ts';
import { resumeEnterprise, suspendEnterprise } from '../../../commands/enterprises/suspension.ts';
import { transferEnterprise } from '../../../commands/enterprises/transferEnterprise.ts';
import { updateEnterprise } from '../../../commands/enterprises/updateEnterprise.ts';
import { openCertificate, storeCertificate } from '../../../commands/enterprises/uploadCertificate.ts';
import { annulNumbers } from '../../../commands/numbers/annulNumbers.ts';
import { uploadCae } from '../../../commands/numbers/uploadCae.ts';
import { removeGrant, setGrant } from '../../../commands/people/grants.ts';
import { changeReportingObligation } from '../../../commands/reports/changeReportingObligation.ts';
import { sendReport } from '../../../commands/reports/sendReport.ts';
import type { ListedBranch } from '../../../db/enterprises/enterprises.ts';
import type { OwnerData } from '../../../db/enterprises/ownerData.ts';
import type { Enterprise, Plan } from '../../../db/entities/enterprises.ts';
import { FIRST_IDEMISOR, LAST_IDEMISOR } from '../../../domain/authority/sobre.ts';
import {
  CreateBranch,
  UpdateEnterprise,
  UploadCae,
  UploadCertificate,
  ValidateCredentials,
} from '../../../domain/enterprises/enterprise.ts';
import { BRANCH_FIELDS, ENTERPRISE_FIELDS } from '../../../domain/enterprises/enterpriseFields.ts';
import { PERMISSIONS } from '../../../domain/enterprises/enterpriseStatus.ts';
import { GRANTED_ROLES } from '../../../domain/people/roles.ts';
import { CFE_TYPE_NAMES, CFE_TYPES, ENVIRONMENTS } from '../../../domain/receipts/cfeTypes.ts';
import { SMALL_TICKETS } from '../../../domain/receipts/transmission.ts';
import { parseOrRefuse } from '../../../domain/requests/faults.ts';
import { integerSchema, parseTypedInteger } from '../../../domain/values/decimal.ts';
import { dateText } from '../../../domain/values/figures.ts';
import { montevideoDate, montevideoTimestamp } from '../../../domain/values/montevideo.ts';
import type { Refusal } from '../../../errors.ts';
import { type Html, html } from '../../../page/html.ts';
import type { Texts } from '../../../words/console.ts';
import { type EnterpriseContext, enterpriseForm } from '../../access/enterpriseContext.ts';
import {
  bodyOfSent,
  choice,
  day,
  file,
  inputsOf,
  number,
  reason,
  secret,
  state,
  subject,
  tableFields,
  text,
} from '../../fields.ts';
import { fold, formWords } from '../../form.ts';
import { amount as amountText, figure } from '../../format.ts';
import { readSentJson, type Visit } from '../../page.ts';
import { optionsOf } from '../../parts.ts';
import { parsePlanValue, planName, planValue } from '../people/plan.ts';

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
const MAX_NUMBER = 9_999_999;
const nextIdemisor = z
  .string()
  .transform(parseTypedInteger)
  .pipe(integerSchema({ minimum: FIRST_IDEMISOR, maximum: LAST_IDEMISOR }));
const numeric = { inputmode: 'numeric', maxlength: 7 } as const;
/** Returns the account whose limit on guessing a secret applies; for an operator, the owner's. */
const guessingAccount = ({ access, enterprise }: EnterpriseContext): string =>
  access.kind === 'member' ? access.accountId : enterprise.ownerAccountId;
const describeNoChange = ({ enterprises: words }: Texts, { faults }: Refusal): string | undefined =>
  faults.length === 0 ? words.already : undefined;

export const loginForm = enterpriseForm('login', 'POST /enterprises/{rut}/login', {
  words: ({ enterprises: words }) => formWords(words, 'check'),
  fields: ({ enterprises: words }) => ({
    username: text(words.username, { optional: true }),
    password: secret(words.password, { optional: true }),
  }),
  refused: ({ enterprises: words }, { code }) => (code === 'RATE_LIMITED' ? words.tooMany : undefined),
  async run({ params, target, form, visit }, deps) {
    const typed = Object.entries(form).filter(([, value]) => value !== '');
    const login = parseOrRefuse(ValidateCredentials, Object.fromEntries(typed));
    await requestCredentialsCheck(deps, { accountId: guessingAccount(target), rut: params.rut, login });
    return visit.texts.enterprises.checking;
  },
});

export const certificateForm = enterpriseForm('certificate', 'POST /enterprises/{rut}/certificate', {
  hasFile: true,
  // Waits for the thread that opens the file.
  isSlow: true,
  words: ({ enterprises: words }) => ({
    title: words.uploadCertificate,
    about: words.uploadAbout,
    submit: words.upload,
  }),
  fields: ({ enterprises: words }) => ({
    file: file(words.file, '.p12,.pfx', '/cert_b64'),
    password: secret(words.filePassword),
  }),
  refused: ({ enterprises: words }, { code }) => (code === 'UNAVAILABLE' ? words.certificateBusy : undefined),
  async run({ params, target, form: sent, visit }, deps) {
    const body = parseOrRefuse(UploadCertificate, { cert_b64: base64(sent.file), password: sent.password });
    using identity = await openCertificate(deps, {
      owner: guessingAccount(target),
      file: sent.file,
      password: body.password,
    });
    const { notAfter } = await storeCertificate(deps, { rut: params.rut }, identity);
    return visit.texts.enterprises.certificateDone(dateText(montevideoDate(notAfter)));
  },
});

export const caeForm = enterpriseForm('caes', 'POST /enterprises/{rut}/caes', {
  hasFile: true,
  words: ({ enterprises: words }) => ({ title: words.uploadCae, submit: words.upload }),
  fields: ({ enterprises: words }) => ({
    file: file(words.caeFile, '.xml', '/cae_b64'),
    start: text(words.start, { ...numeric, path: '/cae_start_number', hint: words.startAbout }),
  }),
  async run({ target, form: sent, visit }, deps) {
    const body = parseOrRefuse(UploadCae, {
      cae_b64: base64(sent.file),
      cae_start_number: parseTypedInteger(sent.start),
    });
    const { rut } = target.enterprise;
    const stored = await uploadCae(deps, { rut, file: sent.file, startNumber: body.cae_start_number });
    const [from, to] = [figure(stored.numberStart, visit.texts), figure(stored.numberEnd, visit.texts)];
    return visit.texts.enterprises.caeDone(CFE_TYPES[stored.type].label, stored.serie, from, to);
  },
});

export const annulmentForm = enterpriseForm('annulments', 'POST /enterprises/{rut}/annulments', {
  words: ({ enterprises: words }) => formWords(words, 'annul'),
  fields: ({ enterprises: words, environments }) => ({
    type: choice(words.type, optionsOf(CFE_TYPE_NAMES, CFE_TYPES)),
    serie: text(words.serie, { maxlength: 2 }),
    from: number(words.fromNumber, { minimum: 1, maximum: MAX_NUMBER }),
    to: number(words.toNumber, { minimum: 1, maximum: MAX_NUMBER }),
    environment: choice(words.environment, optionsOf(ENVIRONMENTS, environments)),
    reason: reason(words.why),
  }),
  refused: ({ enterprises: words }, { faults }) => (faults.length === 0 ? words.annulRefused : undefined),
  async run({ params, form, visit }, deps) {
    const annulled = await annulNumbers(deps, { ...form, rut: params.rut });
    const numbers = annulled.reduce((sum, { fromNumber, toNumber }) => sum + toNumber - fromNumber + 1, 0);
    return visit.texts.enterprises.annulDone(figure(numbers, visit.texts));
  },
});

// Branches.

const branchBody = (code: string, sent: Readonly<Record<string, unknown>>) =>
  parseOrRefuse(CreateBranch, { branch: parseTypedInteger(code), ...bodyOfSent(BRANCH_FIELDS, sent) });
const BRANCH = {
  refused({ enterprises: words }: Texts, { code }: Refusal): string | undefined {
    if (code === 'ALREADY_EXISTS') return words.branchThere;
    return code === 'NOT_FOUND' ? words.unknownBranch : undefined;
  },
} as const;

export const newBranchForm = enterpriseForm('branches', 'POST /enterprises/{rut}/branches', {
  ...BRANCH,
  words: ({ enterprises: words }) => ({ title: words.addBranch }),
  fields: ({ enterprises: words }) => ({
    branch: text(words.branch, { inputmode: 'numeric', maxlength: 4 }),
    ...tableFields(words, BRANCH_FIELDS),
  }),
  async run({ params, form: sent, visit }, deps) {
    const body = branchBody(sent.branch, sent);
    await addBranch(deps, { rut: params.rut, body });
    return visit.texts.enterprises.branchAdded(body.branch);
  },
});

export const branchForm = enterpriseForm('branches', 'POST /enterprises/{rut}/branches/{branch}', {
  ...BRANCH,
  as: 'plain',
  words: ({ enterprises: words }) => ({ submit: words.save }),
  fields: ({ enterprises: words }) => tableFields(words, BRANCH_FIELDS),
  async run({ params, form: sent, visit }, deps) {
    const { branch, ...body } = branchBody(params.branch, sent);
    await updateBranch(deps, { rut: params.rut, branch, body });
    return visit.texts.enterprises.branchChanged(branch);
  },
});

export const closeBranchForm = enterpriseForm('branches', 'POST /enterprises/{rut}/branches/{branch}/close', {
  ...BRANCH,
  as: 'plain',
  words: ({ enterprises: words }) => ({ about: words.closeAbout, submit: words.closeBranch, isQuiet: true }),
  async run({ params, visit }, deps) {
    const branch = Number(params.branch);
    await removeBranch(deps, { rut: params.rut, branch });
    return visit.texts.enterprises.branchClosed(branch);
  },
});

/** Renders the forms of a branch; the head office cannot be closed. */
export function branchForms(visit: Visit, rut: string, branch: ListedBranch): Html {
  const params = { rut, branch: String(branch.branch) };
  const change = branchForm.draw(visit, params, { values: inputsOf(BRANCH_FIELDS, branch) });
  const close = !branch.isFirst && closeBranchForm.draw(visit, params);
  return fold(visit.texts.enterprises.changeBranch, html`${change}${close}`);
}

// Data on receipts, plan and start date.

/** Formats a timestamp for `datetime-local`. */
const localTime = (at: Date | null | undefined): string => (at ? montevideoTimestamp(at).slice(0, 16) : '');

/** Returns what a page gives the form of an enterprise's data: its values, and the plans on sale in addition to the current one. */
export function dataFormDrawing(visit: Visit, enterprise: Enterprise, plans: readonly Plan[]) {
  const { planId, frequencyId, scheduledReadyDate } = enterprise;
  const plan = planValue(planId, frequencyId);
  const values = { ...inputsOf(ENTERPRISE_FIELDS, enterprise), plan, start: localTime(scheduledReadyDate) };
  const onSale = plans.map((one): [string, string] => [
    planValue(one.planId, one.frequencyId),
    `${planName(visit, one)}: ${amountText(one.currency, one.amount, visit.texts)}`,
  ]);
  const currentName =
    planId && plan !== '' ? planName(visit, { planId, frequencyId }) : visit.texts.enterprises.planNone;
  const isOnSale = onSale.some(([value]) => value === plan);
  return {
    values: { ...values, was: JSON.stringify(values) },
    options: { plan: isOnSale ? onSale : [[plan, currentName] as const, ...onSale] },
  };
}

const ShownValues = z.record(z.string(), z.string());
/** Returns the fields of the API's body for one changed field. */
function bodyPart(name: string, value: string): Record<string, unknown> {
  if (name === 'plan') {
    // An enterprise without a plan has an empty option.
    const [plan_id, frequency_id] = parsePlanValue(value) ?? ['-', '-'];
    return value === '' ? {} : { plan_id, frequency_id };
  }
  // Browsers leave out seconds that are zero.
  if (name === 'start')
    return value === '' ? {} : { scheduled_ready_date: value.length === 16 ? `${value}:00` : value };
  return bodyOfSent(ENTERPRISE_FIELDS, { [name]: value });
}

export const dataForm = enterpriseForm('data', 'POST /enterprises/{rut}/data', {
  words: ({ enterprises: words }) => ({
    title: words.changeBranch,
    about: words.dataAbout,
    submit: words.save,
  }),
  fields: ({ enterprises: words }) => ({
    // The values that the form showed: fields left unchanged must not undo a later change by someone else.
    was: state(z.string().max(10_000)),
    ...tableFields(words, ENTERPRISE_FIELDS, {
      vat_up_to_date: [
        ['true', words.yes],
        ['false', words.no],
      ],
      small_tickets: SMALL_TICKETS.map((way) => [way, words.ways[way]]),
    }),
    plan: text(words.plan, { path: '/plan_id' }),
    start: text(words.startDate, { type: 'datetime-local', optional: true, path: '/scheduled_ready_date' }),
  }),
  async run({ params, form: { was, ...sent }, visit }, deps) {
    const { enterprises: words } = visit.texts;
    const shown = readSentJson(ShownValues, was, {});
    const changed = Object.entries(sent).filter(([name, value]) => value !== shown[name]);
    if (changed.length === 0) return words.dataSame;
    const body = Object.assign({}, ...changed.map(([name, value]) => bodyPart(name, value))) as unknown;
    await updateEnterprise(deps, { rut: params.rut, update: parseOrRefuse(UpdateEnterprise, body) });
    return words.dataDone;
  },
});

export const logoForm = enterpriseForm('data', 'POST /enterprises/{rut}/logo', {
  as: 'plain',
  hasFile: true,
  words: ({ enterprises: words }) => ({ submit: words.upload }),
  fields: ({ enterprises: words }) => ({ file: file(words.logoFile, 'image/png,image/jpeg', '/logo_b64') }),
  async run({ params, form, visit }, deps) {
    const update = parseOrRefuse(UpdateEnterprise, { logo_b64: base64(form.file) });
    await updateEnterprise(deps, { rut: params.rut, update });
    return visit.texts.enterprises.logoDone;
  },
});

export const removeLogoForm = enterpriseForm('data', 'POST /enterprises/{rut}/logo/remove', {
  as: 'inline',
  words: ({ enterprises: words }) => ({ done: words.logoRemoved, submit: words.logoRemove, isQuiet: true }),
  command: ({ params }, deps) => updateEnterprise(deps, { rut: params.rut, update: { logo_b64: null } }),
});

// Roles of other accounts.

const refusedAccount =
  (same: 'grantOwner' | 'transferSame') =>
  ({ enterprises: words }: Texts, { faults, code }: Refusal): string | undefined => {
    if (faults.length > 0) return undefined;
    return code === 'NOT_FOUND' ? words.unknownAccount : words[same];
  };

export const grantForm = enterpriseForm('accounts', 'POST /enterprises/{rut}/grants', {
  words: ({ enterprises: words }) => ({ ...formWords(words, 'grant'), done: words.granted }),
  fields: ({ enterprises: words, members }) => ({
    account: text(words.accountId, { maxlength: 36 }),
    role: choice(words.role, optionsOf(GRANTED_ROLES, members.roles)),
    reason: reason(words.why),
  }),
  refused: refusedAccount('grantOwner'),
  command: ({ params, form: { account, ...grant } }, deps) =>
    setGrant(deps, { accountId: account, rut: params.rut, ...grant }),
});

export const withdrawGrantForm = enterpriseForm('accounts', 'POST /enterprises/{rut}/grants/remove', {
  words: ({ enterprises: words }) => ({ title: words.withdraw, done: words.withdrawn }),
  fields: ({ enterprises: words }) => ({ account: subject(z.string().max(100)), reason: reason(words.why) }),
  refused: describeNoChange,
  command: ({ params, form: { account, reason } }, deps) =>
    removeGrant(deps, { accountId: account, rut: params.rut, reason }),
});

// Daily reports.

export const reportDayForm = enterpriseForm('reports', 'POST /enterprises/{rut}/send-report', {
  words: ({ enterprises: words, reports }) => ({ ...formWords(words, 'sendDay'), done: reports.sendDone }),
  fields: ({ enterprises: words, environments }) => ({
    date: day(words.day),
    environment: choice(words.environment, optionsOf(ENVIRONMENTS, environments)),
    reason: reason(words.why),
  }),
  refused: (texts, { faults }) => (faults.length === 0 ? texts.reports.sendNot : undefined),
  command: ({ params, form }, deps) => sendReport(deps, { ...params, ...form }),
});

export const reportingObligationForm = enterpriseForm(
  'reports',
  'POST /enterprises/{rut}/reporting-obligation',
  {
    words: ({ enterprises: words }) => formWords(words, 'changeObligation'),
    fields: ({ enterprises: words }) => ({
      act: choice(words.act, [
        ['start', words.obligationStart],
        ['stop', words.obligationStop],
      ]),
      from: day(words.day),
      reason: reason(words.why),
    }),
    refused: ({ enterprises: words }, { faults }) =>
      faults.length === 0 ? words.obligationRefused : undefined,
    command: ({ params, form }, deps) => changeReportingObligation(deps, { ...params, ...form }),
  },
);

// Actions of operators.

export const migrationForm = enterpriseForm('acts', 'POST /enterprises/{rut}/migrate', {
  words: ({ enterprises: words }) => formWords(words, 'migrate'),
  fields: ({ enterprises: words }) => ({
    from: day(words.migrateFrom),
    idemisor: text(words.idemisorNext, {
      schema: z
        .literal('')
        .transform(() => undefined)
        .or(nextIdemisor),
      inputmode: 'numeric',
      optional: true,
    }),
    reason: reason(words.why),
  }),
  refused: ({ enterprises: words }, { faults }) => (faults.length === 0 ? words.migrateRefused : undefined),
  async run({ params, form, visit }, deps) {
    const { reportsFrom, idemisor } = await migrateEnterprise(deps, { ...params, ...form });
    return visit.texts.enterprises.migrated(dateText(reportsFrom), String(idemisor));
  },
});

export const idemisorForm = enterpriseForm('acts', 'POST /enterprises/{rut}/idemisor', {
  words: ({ enterprises: words }) => formWords(words, 'idemisor'),
  fields: ({ enterprises: words, environments }) => ({
    environment: choice(words.environment, optionsOf(ENVIRONMENTS, environments)),
    next: text(words.idemisorNext, { schema: nextIdemisor, inputmode: 'numeric' }),
    reason: reason(words.why),
  }),
  refused: ({ enterprises: words }, { faults }) => (faults.length === 0 ? words.idemisorRefused : undefined),
  command: ({ params, form }, deps) => setIdemisor(deps, { ...params, ...form }),
});

export const suspendForm = enterpriseForm('acts', 'POST /enterprises/{rut}/suspend', {
  words: ({ enterprises: words }) => formWords(words, 'suspend'),
  fields: ({ enterprises: words }) => ({ reason: reason(words.why) }),
  refused: describeNoChange,
  command: ({ params, form }, deps) => suspendEnterprise(deps, { ...params, ...form }),
});

export const resumeForm = enterpriseForm('acts', 'POST /enterprises/{rut}/resume', {
  words: ({ enterprises: words }) => formWords(words, 'resume'),
  fields: ({ enterprises: words }) => ({ reason: reason(words.why) }),
  refused: describeNoChange,
  command: ({ params, form }, deps) => resumeEnterprise(deps, { ...params, ...form }),
});

export const permissionForm = enterpriseForm('acts', 'POST /enterprises/{rut}/permissions', {
  words: ({ enterprises: words }) => formWords(words, 'enterPermission'),
  fields: ({ enterprises: words }) => ({
    act: choice(words.act, [
      ['grant', words.grantPermission],
      ['withdraw', words.withdrawPermission],
    ]),
    permission: choice(words.permission, optionsOf(PERMISSIONS.toReversed(), words.permissionNames)),
    reason: reason(words.why),
  }),
  command: ({ params, form: { act, ...sent } }, deps) =>
    changePermission(deps, { rut: params.rut, held: act === 'grant', ...sent }),
});

/** Describes what a transfer removes. `removed` is null if a certificate proves who owns the enterprise. */
export function describeRemoved({ texts }: Visit, removed: OwnerData | null): Html | string {
  const { enterprises: words } = texts;
  if (!removed) return words.transferAbout;
  const { data, ...counts } = removed;
  const parts = (Object.keys(words.transferRemoves) as (keyof typeof counts)[]).flatMap((name) =>
    counts[name] === 0 ? [] : [`${words.transferRemoves[name]}: ${figure(counts[name], texts)}`],
  );
  const items = [...(data.length > 0 ? [data.join(', ')] : []), ...parts];
  return html`<p>${words.transferUnproven}</p>
    <p>${items.length === 0 ? words.transferNothing : items.join(' · ')}</p>`;
}

export const transferForm = enterpriseForm('acts', 'POST /enterprises/{rut}/transfer', {
  words: ({ enterprises: words }) => formWords(words, 'transfer'),
  fields: ({ enterprises: words }) => ({
    account: text(words.accountId, { maxlength: 36 }),
    reason: reason(words.why),
  }),
  refused: refusedAccount('transferSame'),
  command: ({ params, form: { account, reason } }, deps) =>
    transferEnterprise(deps, { rut: params.rut, accountId: account, reason }),
});
