/** Forms of an enterprise's page: how each is rendered, and its action. */
import * as z from 'zod';
import { addBranch, removeBranch, updateBranch } from '../../../commands/enterprises/branches.ts';
import { changePermission } from '../../../commands/enterprises/changePermission.ts';
import { requestCredentialsCheck } from '../../../commands/enterprises/requestCredentialsCheck.ts';
import { resumeEnterprise, suspendEnterprise } from '../../../commands/enterprises/suspension.ts';
import { transferEnterprise } from '../../../commands/enterprises/transferEnterprise.ts';
import { updateEnterprise } from '../../../commands/enterprises/updateEnterprise.ts';
import { openCertificate, storeCertificate } from '../../../commands/enterprises/uploadCertificate.ts';
import { annulNumbers } from '../../../commands/numbers/annulNumbers.ts';
import { uploadCae } from '../../../commands/numbers/uploadCae.ts';
import { removeGrant, setGrant } from '../../../commands/people/grants.ts';
import { changeReportingObligation } from '../../../commands/reports/changeReportingObligation.ts';
import { sendReport } from '../../../commands/reports/sendReport.ts';
import type { BranchFacts } from '../../../db/enterprises/enterprises.ts';
import type { Leftovers } from '../../../db/enterprises/leftovers.ts';
import type { Enterprise, Plan } from '../../../db/entities/enterprises.ts';
import {
  CreateBranch,
  UpdateEnterprise,
  UploadCae,
  UploadCertificate,
  ValidateCredentials,
} from '../../../domain/enterprises/enterprise.ts';
import { BRANCH_FIELDS, ENTERPRISE_FIELDS } from '../../../domain/enterprises/enterpriseFields.ts';
import { PERMISSIONS } from '../../../domain/enterprises/enterpriseStatus.ts';
import { REASON_LENGTH } from '../../../domain/operations/supportAction.ts';
import { GRANTED_ROLES } from '../../../domain/people/roles.ts';
import { CFE_TYPE_NAMES, CFE_TYPES, ENVIRONMENTS } from '../../../domain/receipts/cfeTypes.ts';
import { parseOrRefuse } from '../../../domain/requests/faults.ts';
import { dateSchema } from '../../../domain/values/dates.ts';
import { parseTypedNumber } from '../../../domain/values/decimal.ts';
import { dateText } from '../../../domain/values/figures.ts';
import { montevideoDate, montevideoTimestamp } from '../../../domain/values/montevideo.ts';
import { textSchema } from '../../../domain/values/text.ts';
import type { Refusal } from '../../../errors.ts';
import { type Html, html } from '../../../page/html.ts';
import type { Texts } from '../../../words/console.ts';
import { enterpriseForm } from '../../access/atEnterprise.ts';
import { bodyOfSent, inputsOf, renderFields, sentShape } from '../../fieldForms.ts';
import { amount as amountText, figure } from '../../format.ts';
import type { Visit } from '../../page.ts';
import { button, choice, field, fileField, fileForm, form, hidden, optionsOf } from '../../parts.ts';
import { planName } from '../people/plan.ts';

/** Base64, as the API takes files, is a third longer; the form has other fields too. */
const FILE_BYTES = 128 * 1024;
/** Attributes of the password of a login or file: browsers must not fill in a stored one. */
const NEW_PASSWORD = {
  name: 'password',
  type: 'password',
  autocomplete: 'new-password',
  maxlength: 1_000,
} as const;
const Text = z.string().max(1_000);
const Reason = z.strictObject({ reason: Text });
const File = z.instanceof(Uint8Array);
const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

/** Renders a form that opens on click; open at first if it is the only action. */
const renderFolded = (title: string, content: Html): Html =>
  html`<details class="act"><summary>${title}</summary>${content}</details>`;
const about = (words: string): Html => html`<p class="soft">${words}</p>`;
const reasonField = ({ texts }: Visit): Html =>
  field(texts.enterprises.why, { name: 'reason', maxlength: REASON_LENGTH });
const reasonOf = (reason: string): string =>
  parseOrRefuse(z.strictObject({ reason: textSchema(REASON_LENGTH) }), { reason }).reason;

// The login at the authority.

export const loginForm = (visit: Visit, rut: string): Html => {
  const { enterprises: words } = visit.texts;
  return renderFolded(
    words.check,
    form(visit, `/enterprises/${rut}/login`, [
      about(words.checkAbout),
      field(words.username, { name: 'username', required: false }),
      field(words.password, { ...NEW_PASSWORD, required: false }),
      button(words.check),
    ]),
  );
};

export const sendLogin = enterpriseForm({
  name: 'enterprise-login',
  route: 'POST /enterprises/{rut}/login',
  section: 'login',
  fields: z.strictObject({ username: Text, password: Text }),
  refused: ({ enterprises: words }, { code }) => (code === 'RATE_LIMITED' ? words.tooMany : undefined),
  async act({ at, form: { username, password }, visit }, deps) {
    const { rut, ownerAccountId } = at.enterprise;
    const login = parseOrRefuse(ValidateCredentials, {
      ...(username === '' ? {} : { username }),
      ...(password === '' ? {} : { password }),
    });
    // An operator's attempt counts for the owner: an account must not guess a login through operators.
    const accountId = at.access.kind === 'member' ? at.access.accountId : ownerAccountId;
    await requestCredentialsCheck(deps, { accountId, rut, login });
    return visit.texts.enterprises.checking;
  },
});

// Certificate.

export const certificateForm = (visit: Visit, rut: string): Html => {
  const { enterprises: words } = visit.texts;
  return renderFolded(
    words.uploadCertificate,
    fileForm(visit, `/enterprises/${rut}/certificate`, [
      about(words.uploadAbout),
      fileField(words.file, { name: 'file', accept: '.p12,.pfx' }),
      field(words.filePassword, NEW_PASSWORD),
      button(words.upload),
    ]),
  );
};

export const sendCertificate = enterpriseForm({
  name: 'enterprise-certificate',
  route: 'POST /enterprises/{rut}/certificate',
  section: 'certificate',
  fields: z.strictObject({ file: File, password: Text }),
  fileBytes: FILE_BYTES,
  // Slow: waits for the thread that opens the file.
  isSlow: true,
  refused: ({ enterprises: words }, { code }) => (code === 'UNAVAILABLE' ? words.certificateBusy : undefined),
  async act({ at, form: sent, visit }, deps) {
    const body = parseOrRefuse(UploadCertificate, { cert_b64: base64(sent.file), password: sent.password });
    const { rut, ownerAccountId } = at.enterprise;
    const owner = at.access.kind === 'member' ? at.access.accountId : ownerAccountId;
    using identity = await openCertificate({ owner, file: sent.file, password: body.password });
    const { notAfter } = await storeCertificate(deps, { rut }, identity);
    return visit.texts.enterprises.certificateDone(dateText(montevideoDate(notAfter)));
  },
});

// CAEs and annulments.

export const caeForm = (visit: Visit, rut: string): Html => {
  const { enterprises: words } = visit.texts;
  return renderFolded(
    words.uploadCae,
    fileForm(visit, `/enterprises/${rut}/caes`, [
      fileField(words.caeFile, { name: 'file', accept: '.xml' }),
      field(words.start, { name: 'start', inputmode: 'numeric', maxlength: 7 }),
      about(words.startAbout),
      button(words.upload),
    ]),
  );
};

export const sendCae = enterpriseForm({
  name: 'enterprise-cae',
  route: 'POST /enterprises/{rut}/caes',
  section: 'caes',
  fields: z.strictObject({ file: File, start: Text }),
  fileBytes: FILE_BYTES,
  async act({ at, form: sent, visit }, deps) {
    const body = parseOrRefuse(UploadCae, {
      cae_b64: base64(sent.file),
      cae_start_number: parseTypedNumber(sent.start),
    });
    const { rut } = at.enterprise;
    const cae = await uploadCae(deps, { rut, file: sent.file, startNumber: body.cae_start_number });
    const [from, to] = [figure(cae.numberStart, visit.texts), figure(cae.numberEnd, visit.texts)];
    return visit.texts.enterprises.caeDone(CFE_TYPES[cae.type].label, cae.serie, from, to);
  },
});

export const annulForm = (visit: Visit, rut: string): Html => {
  const { enterprises: words, environments } = visit.texts;
  const types = optionsOf(CFE_TYPE_NAMES, CFE_TYPES);
  return renderFolded(
    words.annul,
    form(visit, `/enterprises/${rut}/annulments`, [
      about(words.annulAbout),
      choice(words.type, { name: 'type', options: types }),
      field(words.serie, { name: 'serie', maxlength: 2 }),
      field(words.fromNumber, { name: 'from', inputmode: 'numeric', maxlength: 7 }),
      field(words.toNumber, { name: 'to', inputmode: 'numeric', maxlength: 7 }),
      choice(words.environment, {
        name: 'environment',
        options: optionsOf(ENVIRONMENTS, environments),
      }),
      reasonField(visit),
      button(words.annulGo),
    ]),
  );
};

const Numbers = z.coerce.number().int().min(1).max(9_999_999);

export const sendAnnulment = enterpriseForm({
  name: 'enterprise-annul',
  route: 'POST /enterprises/{rut}/annulments',
  section: 'annulments',
  fields: z.strictObject({
    type: z.enum(CFE_TYPE_NAMES),
    serie: Text,
    from: Numbers,
    to: Numbers,
    environment: z.enum(ENVIRONMENTS),
    reason: Text,
  }),
  refused: ({ enterprises: words }, { faults }) => (faults.length === 0 ? words.annulRefused : undefined),
  async act({ at, form: { reason, ...sent }, visit }, deps) {
    const { rut } = at.enterprise;
    const annulled = await annulNumbers(deps, { ...sent, rut, reason: reasonOf(reason) });
    const numbers = annulled.reduce((sum, { fromNumber, toNumber }) => sum + toNumber - fromNumber + 1, 0);
    return visit.texts.enterprises.annulDone(figure(numbers, visit.texts));
  },
});

// Branches.

type ShownBranch = BranchFacts & { branch: number; isOwn: boolean };

const branchFields = ({ texts }: Visit, branch: ShownBranch | null): Html[] =>
  renderFields(texts.enterprises, BRANCH_FIELDS, inputsOf(BRANCH_FIELDS, branch));

export const newBranchForm = (visit: Visit, rut: string): Html => {
  const { enterprises: words } = visit.texts;
  return renderFolded(
    words.addBranch,
    form(visit, `/enterprises/${rut}/branches`, [
      field(words.branch, { name: 'branch', inputmode: 'numeric', maxlength: 4 }),
      ...branchFields(visit, null),
      button(words.addBranch),
    ]),
  );
};

export const branchForms = (visit: Visit, rut: string, branch: ShownBranch): Html => {
  const { enterprises: words } = visit.texts;
  const path = `/enterprises/${rut}/branches/${branch.branch}`;
  const change = form(visit, path, html`${branchFields(visit, branch)}${button(words.save)}`);
  const close =
    !branch.isOwn &&
    form(visit, `${path}/close`, html`${about(words.closeAbout)}${button(words.closeBranch, 'quiet')}`);
  return renderFolded(words.changeBranch, html`${change}${close}`);
};

const BranchFields = z.strictObject(sentShape(BRANCH_FIELDS, Text));
const branchBody = (code: string, sent: z.output<typeof BranchFields>) =>
  parseOrRefuse(CreateBranch, { branch: parseTypedNumber(code), ...bodyOfSent(BRANCH_FIELDS, sent) });
const branchRefused = ({ enterprises: words }: Texts, { code }: Refusal): string | undefined => {
  if (code === 'ALREADY_EXISTS') return words.branchThere;
  return code === 'NOT_FOUND' ? words.unknownBranch : undefined;
};
const BRANCHES = { section: 'branches', refused: branchRefused } as const;

export const sendNewBranch = enterpriseForm({
  ...BRANCHES,
  name: 'enterprise-branch-add',
  route: 'POST /enterprises/{rut}/branches',
  fields: BranchFields.extend({ branch: Text }),
  async act({ at, form: { branch: code, ...sent }, visit }, deps) {
    const body = branchBody(code, sent);
    await addBranch(deps, { rut: at.enterprise.rut, body });
    return visit.texts.enterprises.branchAdded(body.branch);
  },
});

export const sendBranch = enterpriseForm({
  ...BRANCHES,
  name: 'enterprise-branch-change',
  route: 'POST /enterprises/{rut}/branches/{branch}',
  fields: BranchFields,
  async act({ at, branch: code, form: sent, visit }, deps) {
    const { branch, ...body } = branchBody(code, sent);
    await updateBranch(deps, { rut: at.enterprise.rut, branch, body });
    return visit.texts.enterprises.branchChanged(branch);
  },
});

export const sendCloseBranch = enterpriseForm({
  ...BRANCHES,
  name: 'enterprise-branch-close',
  route: 'POST /enterprises/{rut}/branches/{branch}/close',
  fields: z.strictObject({}),
  async act({ at, branch: code, visit }, deps) {
    const branch = Number(code);
    await removeBranch(deps, { rut: at.enterprise.rut, branch });
    return visit.texts.enterprises.branchClosed(branch);
  },
});

// Data on receipts, plan and start date.

const planValue = (planId: string | null | undefined, frequencyId: string | null | undefined): string =>
  planId && frequencyId ? JSON.stringify([planId, frequencyId]) : '';
/** Formats a timestamp for `datetime-local`. */
const localTime = (at: Date | null | undefined): string => (at ? montevideoTimestamp(at).slice(0, 16) : '');

/** Returns the form's values of a stored row; empty for missing ones. */
const dataOf = (enterprise: Enterprise) => ({
  ...inputsOf(ENTERPRISE_FIELDS, enterprise),
  plan: planValue(enterprise.planId, enterprise.frequencyId),
  start: localTime(enterprise.scheduledReadyDate),
});

export function dataForm(visit: Visit, enterprise: Enterprise, plans: readonly Plan[]): Html {
  const { enterprises: words } = visit.texts;
  const now = dataOf(enterprise);
  const onSale = plans.map(
    ({ planId, frequencyId, amount, currency }) =>
      [
        planValue(planId, frequencyId),
        `${planName(visit, { planId, frequencyId })}: ${amountText(currency, amount, visit.texts)}`,
      ] as const,
  );
  const none = now.plan === '' ? [['', words.planNone] as const] : [];
  const past = onSale.some(([value]) => value === now.plan)
    ? []
    : [
        [
          now.plan,
          planName(visit, { planId: enterprise.planId ?? '', frequencyId: enterprise.frequencyId }),
        ] as const,
      ];
  const options = [...none, ...(now.plan === '' ? [] : past), ...onSale];
  return renderFolded(
    words.changeBranch,
    form(visit, `/enterprises/${enterprise.rut}/data`, [
      about(words.dataAbout),
      hidden('was', JSON.stringify(now)),
      ...renderFields(words, ENTERPRISE_FIELDS, now),
      choice(words.plan, { name: 'plan', value: now.plan, options }),
      field(words.startDate, {
        name: 'start',
        type: 'datetime-local',
        value: now.start,
        required: false,
      }),
      button(words.save),
    ]),
  );
}

const PlanChoice = z.tuple([z.string(), z.string()]);
const DataFields = z.strictObject({
  ...sentShape(ENTERPRISE_FIELDS, Text),
  plan: Text,
  start: Text,
  /** The values that the form showed, to keep what a colleague has changed since. */
  was: z.string().max(10_000),
});
const Shown = z.record(z.string(), z.string());
/** Returns the changed fields as a body of the API; an emptied optional field is removed. */
function changedData({ was, ...sent }: z.output<typeof DataFields>): Record<string, unknown> {
  const shown = shownIn(was);
  const changed = Object.entries(sent).filter(([name, value]) => value.trim() !== shown[name]);
  return Object.assign({}, ...changed.map(([name, value]) => bodyPart(name, value.trim()))) as Record<
    string,
    unknown
  >;
}

function shownIn(was: string): Readonly<Record<string, string>> {
  try {
    return Shown.parse(JSON.parse(was));
  } catch {
    return {};
  }
}

function bodyPart(name: string, value: string): Record<string, unknown> {
  if (name === 'plan') {
    // The empty option is offered only without a plan.
    const [plan_id, frequency_id] = planOf(value);
    return value === '' ? {} : { plan_id, frequency_id };
  }
  if (name === 'start') return value === '' ? {} : { scheduled_ready_date: withSeconds(value) };
  return bodyOfSent(ENTERPRISE_FIELDS, { [name]: value });
}

/** Browsers leave out seconds that are zero. */
const withSeconds = (local: string): string => (local.length === 16 ? `${local}:00` : local);

function planOf(value: string): [string, string] {
  try {
    return PlanChoice.parse(JSON.parse(value));
  } catch {
    return ['-', '-'];
  }
}

export const sendData = enterpriseForm({
  name: 'enterprise-data',
  route: 'POST /enterprises/{rut}/data',
  section: 'data',
  fields: DataFields,
  async act({ at: { enterprise }, form: sent, visit }, deps) {
    const { enterprises: words } = visit.texts;
    const body = changedData(sent);
    if (Object.keys(body).length === 0) return words.dataSame;
    await updateEnterprise(deps, { rut: enterprise.rut, update: parseOrRefuse(UpdateEnterprise, body) });
    return words.dataDone;
  },
});

export const logoForms = (visit: Visit, { rut, logoSha256 }: Enterprise): Html => {
  const { enterprises: words } = visit.texts;
  const remove =
    logoSha256 && form(visit, `/enterprises/${rut}/logo/remove`, button(words.logoRemove, 'quiet'), 'inline');
  const upload = fileForm(visit, `/enterprises/${rut}/logo`, [
    fileField(words.logoFile, { name: 'file', accept: 'image/png,image/jpeg' }),
    button(words.upload),
  ]);
  return renderFolded(words.logo, html`${upload}${remove}`);
};

const LOGO = { section: 'data' } as const;

export const sendLogo = enterpriseForm({
  ...LOGO,
  name: 'enterprise-logo-upload',
  route: 'POST /enterprises/{rut}/logo',
  fields: z.strictObject({ file: File }),
  fileBytes: FILE_BYTES,
  async act({ at, form: { file }, visit }, deps) {
    const update = parseOrRefuse(UpdateEnterprise, { logo_b64: base64(file) });
    await updateEnterprise(deps, { rut: at.enterprise.rut, update });
    return visit.texts.enterprises.logoDone;
  },
});

export const sendRemoveLogo = enterpriseForm({
  ...LOGO,
  name: 'enterprise-logo-remove',
  route: 'POST /enterprises/{rut}/logo/remove',
  fields: z.strictObject({}),
  async act({ at, visit }, deps) {
    await updateEnterprise(deps, { rut: at.enterprise.rut, update: { logo_b64: null } });
    return visit.texts.enterprises.logoRemoved;
  },
});

// Roles of other accounts.

const accountField = ({ texts }: Visit): Html =>
  field(texts.enterprises.accountId, { name: 'account', maxlength: 36 });

export const grantForm = (visit: Visit, rut: string): Html => {
  const { enterprises: words } = visit.texts;
  const options = optionsOf(GRANTED_ROLES, visit.texts.members.roles);
  return renderFolded(
    words.grant,
    form(visit, `/enterprises/${rut}/grants`, [
      about(words.grantAbout),
      accountField(visit),
      choice(words.role, { name: 'role', options }),
      reasonField(visit),
      button(words.grant),
    ]),
  );
};

export const withdrawForm = (visit: Visit, rut: string, accountId: string): Html => {
  const { withdraw } = visit.texts.enterprises;
  const content = form(visit, `/enterprises/${rut}/grants/remove`, [
    hidden('account', accountId),
    reasonField(visit),
    button(withdraw),
  ]);
  const summary = html`<summary aria-label="${withdraw} ${accountId}">${withdraw}</summary>`;
  return html`<details id="withdraw-${accountId}">${summary}${content}</details>`;
};

const describeNoChange = ({ enterprises: words }: Texts, { faults }: Refusal): string | undefined =>
  faults.length === 0 ? words.already : undefined;
const unknownAccount = ({ enterprises: words }: Texts, { code }: Refusal, same: string): string =>
  code === 'NOT_FOUND' ? words.unknownAccount : same;

export const sendGrant = enterpriseForm({
  name: 'enterprise-grant',
  route: 'POST /enterprises/{rut}/grants',
  section: 'accounts',
  fields: Reason.extend({ account: Text, role: z.enum(GRANTED_ROLES) }),
  refused: (texts, refusal) =>
    refusal.faults.length > 0 ? undefined : unknownAccount(texts, refusal, texts.enterprises.grantOwner),
  async act({ at, form: { account, role, reason }, visit }, deps) {
    const why = { reason: reasonOf(reason) };
    await setGrant(deps, { accountId: account.trim(), rut: at.enterprise.rut, role, ...why });
    return visit.texts.enterprises.granted;
  },
});

export const sendWithdraw = enterpriseForm({
  name: 'enterprise-grant-remove',
  route: 'POST /enterprises/{rut}/grants/remove',
  section: 'accounts',
  fields: Reason.extend({ account: Text }),
  refused: describeNoChange,
  async act({ at, form: { account, reason }, visit }, deps) {
    await removeGrant(deps, { accountId: account, rut: at.enterprise.rut, reason: reasonOf(reason) });
    return visit.texts.enterprises.withdrawn;
  },
});

// Daily reports.

export const sendDayForm = (visit: Visit, rut: string, today: string): Html => {
  const { enterprises: words, environments } = visit.texts;
  return renderFolded(
    words.sendDay,
    form(visit, `/enterprises/${rut}/send-report`, [
      about(words.sendDayAbout),
      field(words.day, { name: 'date', type: 'date', value: today }),
      choice(words.environment, {
        name: 'environment',
        options: optionsOf(ENVIRONMENTS, environments),
      }),
      reasonField(visit),
      button(words.sendDayGo),
    ]),
  );
};

export const sendDay = enterpriseForm({
  name: 'enterprise-send-report',
  route: 'POST /enterprises/{rut}/send-report',
  section: 'reports',
  fields: z.strictObject({ date: dateSchema(), environment: z.enum(ENVIRONMENTS), reason: Text }),
  refused: (texts, { faults: [fault] }) => {
    if (!fault) return texts.reports.sendNot;
    return fault.code === 'report.no_duty' ? texts.faults['report.no_duty'] : undefined;
  },
  async act({ at, form: { reason, ...day }, visit }, deps) {
    await sendReport(deps, { rut: at.enterprise.rut, ...day, reason: reasonOf(reason) });
    return visit.texts.reports.sendDone;
  },
});

export const dutyForm = (visit: Visit, rut: string): Html => {
  const { enterprises: words } = visit.texts;
  const options = [
    ['start', words.dutyStart],
    ['stop', words.dutyStop],
  ] as const;
  return renderFolded(
    words.dutyAct,
    form(visit, `/enterprises/${rut}/report-duty`, [
      about(words.dutyAbout),
      choice(words.act, { name: 'act', options }),
      field(words.day, { name: 'from', type: 'date' }),
      reasonField(visit),
      button(words.dutyGo),
    ]),
  );
};

export const sendDuty = enterpriseForm({
  name: 'enterprise-report-duty',
  route: 'POST /enterprises/{rut}/report-duty',
  section: 'reports',
  fields: z.strictObject({ act: z.enum(['start', 'stop']), from: dateSchema(), reason: Text }),
  refused: ({ enterprises: words }, { faults }) => (faults.length === 0 ? words.dutyRefused : undefined),
  async act({ at, form: { reason, ...sent }, visit }, deps) {
    await changeReportingObligation(deps, { rut: at.enterprise.rut, ...sent, reason: reasonOf(reason) });
    return visit.texts.enterprises.dutyDone;
  },
});

// Actions of operators.

/** Describes what a transfer removes if no certificate proves the owner (`removed`); null if one does. */
function describeRemoved({ texts }: Visit, removed: Leftovers | null): Html {
  const { enterprises: words } = texts;
  if (!removed) return about(words.transferAbout);
  const { data, ...counts } = removed;
  const parts = (Object.keys(words.transferRemoves) as (keyof typeof counts)[]).flatMap((name) =>
    counts[name] === 0 ? [] : [`${words.transferRemoves[name]}: ${figure(counts[name], texts)}`],
  );
  const all = [...(data.length > 0 ? [data.join(', ')] : []), ...parts];
  return html`${about(words.transferUnproven)}<p>${all.length === 0 ? words.transferNothing : all.join(' · ')}</p>`;
}

/** Renders the actions of operators; `removed`: what a transfer would remove, null for nothing. */
export function actForms(visit: Visit, { rut, status }: Enterprise, removed: Leftovers | null): Html {
  const { enterprises: words } = visit.texts;
  const at = (path: string): string => `/enterprises/${rut}/${path}`;
  const suspend = renderFolded(
    words.suspend,
    form(
      visit,
      at('suspend'),
      html`${about(words.suspendAbout)}${reasonField(visit)}${button(words.suspend)}`,
    ),
  );
  const resume = renderFolded(
    words.resume,
    form(visit, at('resume'), html`${about(words.resumeAbout)}${reasonField(visit)}${button(words.resume)}`),
  );
  const permission = form(visit, at('permissions'), [
    about(words.permissionAbout),
    choice(words.act, {
      name: 'act',
      options: [
        ['grant', words.grantPermission],
        ['withdraw', words.withdrawPermission],
      ],
    }),
    choice(words.permission, {
      name: 'permission',
      options: optionsOf(PERMISSIONS.toReversed(), words.permissionNames),
    }),
    reasonField(visit),
    button(words.permissionGo),
  ]);
  const transfer = form(
    visit,
    at('transfer'),
    html`${describeRemoved(visit, removed)}${accountField(visit)}${reasonField(visit)}${button(words.transfer)}`,
  );
  return html`${status === 'SUSPENDED' ? resume : suspend}${renderFolded(words.permissionAct, permission)}${renderFolded(words.transfer, transfer)}`;
}

const ACTS = { section: 'acts' } as const;

export const sendSuspend = enterpriseForm({
  ...ACTS,
  name: 'enterprise-suspend',
  route: 'POST /enterprises/{rut}/suspend',
  fields: Reason,
  refused: describeNoChange,
  async act({ at, form: { reason }, visit }, deps) {
    await suspendEnterprise(deps, { rut: at.enterprise.rut, reason: reasonOf(reason) });
    return visit.texts.enterprises.suspendDone;
  },
});

export const sendResume = enterpriseForm({
  ...ACTS,
  name: 'enterprise-resume',
  route: 'POST /enterprises/{rut}/resume',
  fields: Reason,
  refused: describeNoChange,
  async act({ at, form: { reason }, visit }, deps) {
    await resumeEnterprise(deps, { rut: at.enterprise.rut, reason: reasonOf(reason) });
    return visit.texts.enterprises.resumeDone;
  },
});

export const sendPermission = enterpriseForm({
  ...ACTS,
  name: 'enterprise-permission',
  route: 'POST /enterprises/{rut}/permissions',
  fields: Reason.extend({ act: z.enum(['grant', 'withdraw']), permission: z.enum(PERMISSIONS) }),
  async act({ at, form: { act, permission, reason }, visit }, deps) {
    const { rut } = at.enterprise;
    await changePermission(deps, { rut, permission, held: act === 'grant', reason: reasonOf(reason) });
    return visit.texts.enterprises.permissionDone;
  },
});

export const sendTransfer = enterpriseForm({
  ...ACTS,
  name: 'enterprise-transfer',
  route: 'POST /enterprises/{rut}/transfer',
  fields: Reason.extend({ account: Text }),
  refused: (texts, refusal) =>
    refusal.faults.length > 0 ? undefined : unknownAccount(texts, refusal, texts.enterprises.transferSame),
  async act({ at, form: { account, reason }, visit }, deps) {
    const input = { rut: at.enterprise.rut, accountId: account.trim(), reason: reasonOf(reason) };
    await transferEnterprise(deps, input);
    return visit.texts.enterprises.transferDone;
  },
});
