import * as z from 'zod';
import { previewRemoval } from '../../../commands/enterprises/transferEnterprise.ts';
import { findCurrentCertificate } from '../../../db/enterprises/certificates.ts';
import { listAccountRoles } from '../../../db/enterprises/consoleEnterprises.ts';
import { readReadyFacts } from '../../../db/enterprises/enterprises.ts';
import { countRecentNumbers } from '../../../db/enterprises/warnings.ts';
import { DirectoryEntry } from '../../../db/entities/authority.ts';
import { type Enterprise, Logo } from '../../../db/entities/enterprises.ts';
import { ReportingObligation } from '../../../db/entities/reports.ts';
import { type CaeRow, findCaes } from '../../../db/numbers/numbers.ts';
import { listPlans } from '../../../db/people/payments.ts';
import { listVisibleReports } from '../../../db/reports/consoleReports.ts';
import {
  missingReadyFacts,
  PERMISSIONS,
  type ReadyFact,
} from '../../../domain/enterprises/enterpriseStatus.ts';
import { type LowNumbers, lowNumbers } from '../../../domain/enterprises/warnings.ts';
import { type CaeStartFinding, currentCaeStartFindings } from '../../../domain/numbers/caeStart.ts';
import { CFE_TYPES, type CfeType } from '../../../domain/receipts/cfeTypes.ts';
import { dateText } from '../../../domain/values/figures.ts';
import { montevideoDate } from '../../../domain/values/montevideo.ts';
import { Refusal } from '../../../errors.ts';
import { type Html, html } from '../../../page/html.ts';
import { APPLICATION_WORDS } from '../../../words/application.ts';
import {
  drawIfAllowed,
  type EnterpriseContext,
  enterprisePath,
  requireEnterprise,
  type Section,
} from '../../access/enterpriseContext.ts';
import { mayUse } from '../../access/permissions.ts';
import { LIST_QUERY } from '../../filters.ts';
import { fold } from '../../form.ts';
import { dateOf, minuteText, timeOf } from '../../format.ts';
import { link } from '../../links.ts';
import { csvAnswer, type ListPart } from '../../lists.ts';
import { type ConsoleDeps, definePage, show, type Visit } from '../../page.ts';
import { badge, factList, panel, renderEmpty, table } from '../../parts.ts';
import { planName } from '../people/plan.ts';
import { exportsPath } from '../receipts/exports.ts';
import { reportTable } from '../reports/reports.ts';
import * as forms from './enterpriseForms.ts';
import { annulmentList, branchList, caeList } from './enterpriseLists.ts';
import { renderExpiry, renderLowNumbers, STATUS_TONES } from './enterprises.ts';

interface EnterprisePageData extends EnterpriseContext {
  readonly visit: Visit;
  readonly deps: ConsoleDeps;
  readonly now: Date;
  readonly today: string;
  readonly caes: readonly CaeRow[];
  /** Types whose numbers run low. */
  readonly low: readonly LowNumbers[];
}

/** Limit of reports on the page. */
const MAX_REPORTS = 7;

/** GET /enterprises/{rut}: all data of an enterprise, with the forms to change it. */
export const enterprisePage = definePage({
  name: 'enterprise',
  route: 'GET /enterprises/{rut}',
  query: z.object({ ...LIST_QUERY }),
  async handle({ params, query, visit }, deps) {
    const context = await requireEnterprise(visit, deps, params.rut);
    const now = deps.businessClock();
    const { enterprise } = context;
    const numbers = await readNumbers(deps, enterprise.rut, now);
    const data: EnterprisePageData = { ...context, visit, deps, now, ...numbers };
    const caes = caeList(visit, deps, data, query);
    const branches = branchList(visit, deps, context, query);
    const annulments = annulmentList(visit, deps, context, query);
    const csv = csvAnswer(query, [caes, branches, annulments]);
    if (csv) return csv;
    const body = html`${relatedLinks(visit, context)} ${await statusPanel(data)}
      <div class="panels">
        <div>
          ${section('login', loginPanel(data))} ${section('certificate', await certificatePanel(data))}
        </div>
        <div>${section('data', await dataPanel(data))} ${await mailPanel(data)}</div>
      </div>
      ${section('caes', await listPanel(data, caes, forms.caeForm))}
      ${section('branches', await listPanel(data, branches, forms.newBranchForm))}
      ${section('reports', await reportsPanel(data))}
      ${section('annulments', await listPanel(data, annulments, forms.annulmentForm))}
      ${section('accounts', await accountsPanel(data))} ${section('acts', await actsPanel(data))}`;
    return show(enterprise.tradeName ?? enterprise.legalName, body, {
      live: ['warnings', 'enterprises', 'reports'],
    });
  },
});

/** Renders links to other pages about the enterprise that the viewer may open. */
function relatedLinks({ texts, language }: Visit, { enterprise: { rut }, access }: EnterpriseContext): Html {
  const { nav } = texts;
  const links = [
    [`${enterprisePath(rut)}/customers`, texts.customers.title],
    [link('/cfes', { rut }), nav.cfes],
    mayUse(access, 'GET /stuck') && [link('/stuck', { rut }), nav.stuck],
    [link('/deliveries', { rut }), nav.deliveries],
    mayUse(access, 'GET /audit') && [link('/audit', { rut }), nav.audit],
    [`${enterprisePath(rut)}/homologation`, texts.homologation.title],
    [`${enterprisePath(rut)}/postulacion`, APPLICATION_WORDS[language].title],
    mayUse(access, 'GET /exports') && [exportsPath({ rut }), texts.exports.link],
  ].filter((one): one is [string, string] => one !== false);
  return html`<p class="places">
    ${links.map(([href, words], i) => html`${i > 0 && ' · '}<a href="${href}">${words}</a>`)}
  </p>`;
}

/** Returns the enterprise's CAEs for production, and the types whose numbers run low. */
async function readNumbers(
  { orm }: Pick<ConsoleDeps, 'orm'>,
  rut: string,
  now: Date,
): Promise<Pick<EnterprisePageData, 'today' | 'caes' | 'low'>> {
  const em = orm.em.fork();
  const today = montevideoDate(now);
  const caes = await findCaes(em, rut, 'production');
  const usedLately = (await countRecentNumbers(em, [rut], now)).get(rut) ?? new Map<CfeType, number>();
  return { today, caes, low: lowNumbers({ caes, usedLately }, today) };
}

const section = (id: Section, content: Html): Html => html`<div id="${id}">${content}</div>`;

/** Section of the page where each missing fact is fixed. */
const FIX_SECTIONS: Readonly<Record<ReadyFact, Section>> = {
  prodPermission: 'login',
  validCertificate: 'certificate',
  plan: 'data',
  okCae: 'caes',
  dateCome: 'data',
};

/** Renders the status, and what prevents the enterprise from issuing, with how to fix it. */
async function statusPanel(data: EnterprisePageData): Promise<Html> {
  const { enterprise, access, visit, deps, now, today, caes, low } = data;
  const { enterprises: words } = visit.texts;
  const { status } = enterprise;
  const missing = missingReadyFacts(await readReadyFacts(deps.orm.em.fork(), enterprise, now));
  const date = enterprise.scheduledReadyDate;
  const start = date ? minuteText(date) : null;
  const todo = (fact: ReadyFact): string =>
    fact === 'dateCome' ? words.todo.dateCome(start) : words.todo[fact];
  // Without a valid CAE, the list of missing facts already asks for one.
  const lowTypes = missing.includes('okCae') ? [] : low;
  const doubtful = caes.flatMap((cae) =>
    currentCaeStartFindings(cae, today).map((finding) => startItem(visit, cae, finding)),
  );
  const list =
    missing.length + lowTypes.length + doubtful.length > 0 &&
    html`<ul class="lacks">
      ${missing.map(
        (fact) =>
          html`<li>
            <a href="#${FIX_SECTIONS[fact]}"><strong>${words.facts[fact]}</strong></a> <br />
            ${todo(fact)}
          </li>`,
      )}
      ${lowTypes.map((type) => lowItem(visit, type))}${doubtful}
    </ul>`;
  const readyText =
    lowTypes.length > 0 ? words.readyBut : doubtful.length > 0 ? words.readyCheck : words.isReady;
  const summary = {
    PENDING: missing.length === 0 ? words.soonReady : null,
    READY: missing.length > 0 ? words.cannotIssue : readyText,
    SUSPENDED: words.isSuspended,
  }[status];
  const reason =
    access.kind === 'operator' &&
    enterprise.suspensionReason &&
    html`<p><span class="soft">${words.suspendedFor}</span> ${enterprise.suspensionReason}</p>`;
  const role =
    access.kind === 'member' && html` · ${words.yourRole}: ${visit.texts.members.roles[access.role]}`;
  const rut = html`${words.rut} <code>${enterprise.rut}</code>`;
  const statusBadge = badge(words.statuses[status], STATUS_TONES[status]);
  const identity = html`<p>${statusBadge} ${enterprise.legalName} · ${rut}${role}</p>`;
  return panel(
    words.readiness,
    html`${identity}${summary !== null && html`<p>${summary}</p>`}${reason}${list}`,
  );
}

/** Renders why the first number of a CAE is doubtful, and what to do about it. */
function startItem({ texts }: Visit, { type, serie, startNumber }: CaeRow, finding: CaeStartFinding): Html {
  const { what, todo } = texts.enterprises.caeStart[finding];
  const number = Number(startNumber) - (finding === 'before_unknown' ? 1 : 0);
  return html`<li>
    <a href="#caes"><strong>${what(`${CFE_TYPES[type].label} ${serie} ${number}`)}</strong></a> <br />
    ${todo}
  </li>`;
}

/** Renders a type whose numbers run low, and what to do about it. */
function lowItem({ texts }: Visit, { type, numbersLeft, daysLeft: days }: LowNumbers): Html {
  const { enterprises: words } = texts;
  const { label } = CFE_TYPES[type];
  const what = numbersLeft === 0 ? words.noNumbers(label) : words.lowNumbers(label, days);
  const todo = numbersLeft === 0 ? `${words.noNumbersMean} ${words.todo.okCae}` : words.todo.okCae;
  return html`<li>
    <a href="#caes"><strong>${what}</strong></a> ${renderLowNumbers(texts, numbersLeft)}<br />${todo}
  </li>`;
}

function loginPanel(data: EnterprisePageData): Html {
  const { enterprise, visit } = data;
  const { enterprises: words } = visit.texts;
  const { loginStatus, efacturaStatus, lastValidatedAt, permissions } = enterprise;
  const tone = { NOT_ATTEMPTED: 'calm', SUCCESS: 'good', FAILED: 'bad' } as const;
  const rows: [string, Html | string][] = [
    [words.loginState, badge(words.loginStates[loginStatus], tone[loginStatus])],
    [words.checkState, words.checkStates[efacturaStatus]],
    [words.checkedAt, lastValidatedAt ? timeOf(lastValidatedAt) : visit.texts.never],
    ...PERMISSIONS.map((name): [string, Html] => [
      words.permissionNames[name],
      permissions.includes(name) ? badge(words.held, 'good') : badge(words.missing, 'wait'),
    ]),
  ];
  return panel(words.login, html`${factList(rows)}${drawIfAllowed(forms.loginForm, data)}`);
}

async function certificatePanel(data: EnterprisePageData): Promise<Html> {
  const { enterprise, visit, deps, today } = data;
  const { enterprises: words } = visit.texts;
  const certificate = await findCurrentCertificate(deps.orm.em.fork(), enterprise.rut, 'production');
  const shown = certificate
    ? factList([
        [words.subject, certificate.subject],
        [words.from, dateOf(montevideoDate(certificate.notBefore))],
        [words.ends, renderExpiry(visit.texts, montevideoDate(certificate.notAfter), today)],
      ])
    : renderEmpty(words.certificateNone);
  return panel(words.certificate, html`${shown}${drawIfAllowed(forms.certificateForm, data)}`);
}

/** Renders a list, and the form that adds to it. */
async function listPanel(
  data: EnterprisePageData,
  list: ListPart,
  form: typeof forms.caeForm | typeof forms.newBranchForm | typeof forms.annulmentForm,
): Promise<Html> {
  return panel(list.label, html`${await list.render()}${drawIfAllowed<never>(form, data)}`);
}

async function dataPanel(data: EnterprisePageData): Promise<Html> {
  const { enterprise, access, visit, deps } = data;
  const { enterprises: words } = visit.texts;
  const mayChange = mayUse(access, forms.dataForm.route);
  const logo =
    enterprise.logoSha256 === null || enterprise.logoSha256 === undefined
      ? html`<p class="soft">${words.logoNone}</p>`
      : html`<p><img class="logo" src="/enterprises/${enterprise.rut}/logo" alt="${words.logo}" /></p>`;
  const plans = mayChange ? await listPlans(deps.orm.em.fork()) : [];
  const change = drawIfAllowed(forms.dataForm, data, forms.dataFormDrawing(visit, enterprise, plans));
  const remove = enterprise.logoSha256 && drawIfAllowed(forms.removeLogoForm, data);
  const logoForms =
    mayUse(access, forms.logoForm.route) &&
    fold(words.logo, html`${drawIfAllowed(forms.logoForm, data)}${remove}`);
  return panel(words.data, html`${factList(dataRows(visit, enterprise))}${change}${logo}${logoForms}`);
}

function dataRows(visit: Visit, enterprise: Enterprise): [string, Html | string][] {
  const { enterprises: words, never } = visit.texts;
  const date = enterprise.scheduledReadyDate;
  return [
    [words.legalName, enterprise.legalName],
    [words.tradeName, enterprise.tradeName ?? never],
    [words.streetName, `${enterprise.streetName}, ${enterprise.localityName}, ${enterprise.departmentName}`],
    [words.phoneNumber, enterprise.phoneNumber ?? never],
    [words.website, enterprise.website ?? never],
    [words.issuerSince, enterprise.issuerSince ? dateOf(enterprise.issuerSince) : never],
    [words.resolution, enterprise.resolution ?? never],
    [words.exemptionNorm, enterprise.exemptionNorm ?? never],
    [words.vatUpToDate, enterprise.vatUpToDate ? words.yes : words.no],
    [words.smallTickets, words.ways[enterprise.smallTickets]],
    [
      words.plan,
      enterprise.planId
        ? planName(visit, { planId: enterprise.planId, frequencyId: enterprise.frequencyId })
        : never,
    ],
    [words.startDate, date ? timeOf(date) : never],
  ];
}

async function mailPanel({ enterprise, visit, deps }: EnterprisePageData): Promise<Html> {
  const { enterprises: words, never } = visit.texts;
  const entry = await deps.orm.em.fork().findOne(DirectoryEntry, { rut: enterprise.rut });
  return panel(
    words.exchange,
    factList([
      [words.replies, enterprise.email ?? never],
      [words.directory, entry?.mail ?? words.directoryNone],
    ]),
  );
}

async function reportsPanel(data: EnterprisePageData): Promise<Html> {
  const { enterprise, visit, deps, now, today } = data;
  const { enterprises: words } = visit.texts;
  const { rut } = enterprise;
  const em = deps.orm.em.fork();
  // No filter by account: the viewer has a role at this enterprise.
  const reports = await listVisibleReports(em, null, { rut }, { after: null, limit: MAX_REPORTS });
  const obligation = await em.findOne(ReportingObligation, { rut });
  const list = reports.length === 0 ? renderEmpty(words.reportsNone) : reportTable(visit, reports, now);
  const until = obligation?.untilDate;
  const period = obligation
    ? [
        words.obligationFrom(dateText(obligation.fromDate)),
        ...(until ? [words.obligationUntil(dateText(until))] : []),
      ].join(', ')
    : words.obligationNone;
  return panel(
    words.reports,
    html`<p>${words.obligation} ${period}</p>
      ${list}
      <div class="more"><a href="${link('/reports', { rut })}">${words.reportsAll}</a></div>
      ${drawIfAllowed(forms.reportDayForm, data, { values: { date: today } })}${drawIfAllowed(forms.reportingObligationForm, data)}`,
  );
}

/** Renders the accounts with a role at the enterprise. Operators and owners see all of them, others only their own. */
async function accountsPanel(data: EnterprisePageData): Promise<Html> {
  const { enterprise, access, visit, deps } = data;
  const { enterprises: words } = visit.texts;
  const { rut } = enterprise;
  const all = await listAccountRoles(deps.orm.em.fork(), rut);
  const isOwner =
    access.kind === 'member' &&
    all.some(({ accountId, role }) => accountId === access.accountId && role === 'OWNER');
  const visible =
    access.kind === 'operator' || isOwner
      ? all
      : all.filter(({ accountId }) => accountId === access.accountId);
  const mayWithdraw = mayUse(access, forms.withdrawGrantForm.route);
  const rows = visible.map(({ accountId, name, role }) => [
    name,
    visit.texts.members.roles[role],
    ...(mayWithdraw
      ? [
          html`<code>${accountId}</code>`,
          role !== 'OWNER' &&
            forms.withdrawGrantForm.draw(
              visit,
              { rut },
              { values: { account: accountId }, subjectName: accountId },
            ),
        ]
      : []),
  ]);
  const heads = [words.account, words.role, ...(mayWithdraw ? [words.accountId, words.acting] : [])];
  return panel(
    words.accounts,
    html`${table(words.accounts, heads, rows)}${drawIfAllowed(forms.grantForm, data)}`,
  );
}

async function actsPanel(data: EnterprisePageData): Promise<Html> {
  const { enterprise, access, visit, deps } = data;
  if (!mayUse(access, forms.transferForm.route)) return html``;
  const about = forms.describeRemoved(visit, await previewRemoval(deps, enterprise));
  const status =
    enterprise.status === 'SUSPENDED'
      ? drawIfAllowed(forms.resumeForm, data)
      : drawIfAllowed(forms.suspendForm, data);
  return panel(
    visit.texts.enterprises.acts,
    html`${status}${drawIfAllowed(forms.permissionForm, data)}${drawIfAllowed(forms.transferForm, data, { about })}
    ${drawIfAllowed(forms.migrationForm, data)}${drawIfAllowed(forms.idemisorForm, data)}`,
  );
}

/** GET /enterprises/{rut}/logo: the logo of printed receipts. */
export const enterpriseLogo = definePage({
  name: 'enterprise-logo',
  route: 'GET /enterprises/{rut}/logo',
  async handle({ params, visit }, deps) {
    const { enterprise } = await requireEnterprise(visit, deps, params.rut);
    const logo =
      enterprise.logoSha256 && (await deps.orm.em.fork().findOne(Logo, { sha256: enterprise.logoSha256 }));
    if (!logo) throw new Refusal('NOT_FOUND', 'NOT_FOUND');
    const type = logo.mediaType;
    const name = `logo-${params.rut}.${type.split('/')[1] ?? ''}`;
    return { kind: 'file', name, type, content: Buffer.from(logo.bytes) };
  },
});
