import * as z from 'zod';
import { listBranches } from '../../db/branches.ts';
import { type CaeRow, listCaes } from '../../db/caes.ts';
import { currentCertificate } from '../../db/certificates.ts';
import { type AnnulledSpan, accountsAt, annulmentsOf } from '../../db/consoleEnterprises.ts';
import { reportsSeen } from '../../db/consoleReports.ts';
import { findDirectoryEntry } from '../../db/directory.ts';
import type { Enterprise } from '../../db/entities/Enterprise.ts';
import { findLogo } from '../../db/logos.ts';
import { listPlans } from '../../db/plans.ts';
import { readyFacts } from '../../db/readyFacts.ts';
import { findReportDuty } from '../../db/reportDuty.ts';
import { usedLately } from '../../db/warnings.ts';
import { CFE_TYPES, type CfeType } from '../../domain/cfeTypes.ts';
import { lackingFacts, PERMISSIONS, type ReadyFact } from '../../domain/enterpriseStatus.ts';
import { montevideoDate, montevideoTimestamp } from '../../domain/montevideo.ts';
import { Rut } from '../../domain/rut.ts';
import { daysLeft, type LowNumbers, lowNumbers } from '../../domain/warnings.ts';
import { Refusal } from '../../errors.ts';
import { type Html, html } from '../../page/html.ts';
import { mayAt } from '../access.ts';
import {
  ADMINS,
  type AtEnterprise,
  atEnterprise,
  enterprisePath,
  MEMBERS,
  OPERATORS,
  OWNERS,
  READERS,
  type Section,
  SUPPORT,
} from '../atEnterprise.ts';
import { age, figure, moment } from '../format.ts';
import { link } from '../links.ts';
import { csvOf, LIST_QUERY, type List, listPart } from '../lists.ts';
import { type ConsoleDeps, definePage, show, type Visit } from '../page.ts';
import { mark, nothing, panel, table } from '../parts.ts';
import * as forms from './enterpriseForms.ts';
import { ending, lowMark, STATUS_TONES } from './enterprises.ts';
import { EXPORTERS, exportsPath } from './exports.ts';
import { planName } from './plan.ts';
import { reportTable } from './reports.ts';

/** What the parts of the page are drawn from. */
interface Drawn extends AtEnterprise {
  readonly visit: Visit;
  readonly deps: ConsoleDeps;
  readonly now: Date;
  readonly today: string;
  readonly caes: readonly CaeRow[];
  /** How many numbers of each type were used in the last weeks. */
  readonly used: ReadonlyMap<CfeType, number>;
  /** The types whose numbers run low. */
  readonly low: readonly LowNumbers[];
}

/** How many reports the page shows. */
const REPORTS = 7;

/** GET /enterprises/{rut}: all there is to know of an enterprise, and to do about it. */
export const enterprisePage = definePage({
  name: 'enterprise',
  method: 'GET',
  path: '/enterprises/{rut}',
  audience: READERS,
  params: z.object({ rut: Rut }),
  query: z.object({ ...LIST_QUERY }),
  form: z.object({}),
  async handle({ params, query, visit }, deps) {
    const at = await atEnterprise(visit, deps, params.rut);
    const annulments = annulmentList(visit, deps, at, query);
    if (query.format === 'csv') return csvOf(annulments);
    const now = deps.businessClock();
    const { enterprise } = at;
    const drawn: Drawn = { ...at, visit, deps, now, ...(await numbersOf(deps, enterprise.rut, now)) };
    const body = html`${placesOf(visit, at)}
${await standingPanel(drawn)}
<div class="panels"><div>
${section('login', loginPanel(drawn))}
${section('certificate', await certificatePanel(drawn))}
</div><div>
${section('data', await dataPanel(drawn))}
${await mailPanel(drawn)}
</div></div>
${section('caes', caesPanel(drawn))}
${section('branches', await branchesPanel(drawn))}
${section('reports', await reportsPanel(drawn))}
${section('annulments', await annulmentsPanel(drawn, annulments))}
${section('accounts', await accountsPanel(drawn))}
${section('acts', actsPanel(drawn))}`;
    return show(enterprise.tradeName ?? enterprise.legalName, body, {
      live: ['papers', 'enterprises', 'reports'],
    });
  },
});

/** Where else something of it stands, for whoever may go there. */
function placesOf({ texts }: Visit, { enterprise: { rut }, standing }: AtEnterprise): Html {
  const { nav } = texts;
  const isOperator = mayAt(standing, OPERATORS);
  const places = [
    [`${enterprisePath(rut)}/customers`, texts.customers.title],
    [link('/cfes', { rut }), nav.cfes],
    isOperator && [link('/stuck', { rut }), nav.stuck],
    [link('/deliveries', { rut }), nav.deliveries],
    isOperator && [link('/audit', { rut }), nav.audit],
    mayAt(standing, EXPORTERS) && [exportsPath({ rut }), texts.exports.link],
  ].filter((one): one is [string, string] => one !== false);
  return html`<p class="places">${places.map(([href, words], i) => html`${i > 0 && ' · '}<a href="${href}">${words}</a>`)}</p>`;
}

/** Its CAEs for production, and which of their types run low. */
async function numbersOf(
  { orm }: Pick<ConsoleDeps, 'orm'>,
  rut: string,
  now: Date,
): Promise<Pick<Drawn, 'today' | 'caes' | 'used' | 'low'>> {
  const em = orm.em.fork();
  const today = montevideoDate(now);
  const caes = await listCaes(em, rut, 'production');
  const used = (await usedLately(em, [rut], now)).get(rut) ?? new Map<CfeType, number>();
  return { today, caes, used, low: lowNumbers({ caes, usedLately: used }, today) };
}

const section = (id: Section, content: Html): Html => html`<div id="${id}">${content}</div>`;

/** Where on the page something is done about a fact that lacks. */
const MENDED_AT: Readonly<Record<ReadyFact, Section>> = {
  prodPermission: 'login',
  validCertificate: 'certificate',
  plan: 'data',
  okCae: 'caes',
  dateCome: 'data',
};

/** Where it stands; of what keeps it from issuing, each thing with what to do about it. */
async function standingPanel({ enterprise, standing, visit, deps, now, low }: Drawn): Promise<Html> {
  const { enterprises: words } = visit.texts;
  const { status } = enterprise;
  const lacking = lackingFacts(await readyFacts(deps.orm.em.fork(), enterprise, now));
  const date = enterprise.scheduledReadyDate;
  const start = date ? montevideoTimestamp(date).slice(0, 16).replace('T', ' ') : null;
  const todo = (fact: ReadyFact): string =>
    fact === 'dateCome' ? words.todo.dateCome(start) : words.todo[fact];
  // Without a CAE in force there is one thing to do, and it stands among what lacks.
  const few = lacking.includes('okCae') ? [] : low;
  const list =
    lacking.length + few.length > 0 &&
    html`<ul class="lacks">${lacking.map(
      (fact) =>
        html`<li><a href="#${MENDED_AT[fact]}"><strong>${words.facts[fact]}</strong></a><br>${todo(fact)}</li>`,
    )}${few.map((one) => lowItem(visit, one))}</ul>`;
  const says = {
    PENDING: lacking.length === 0 ? words.soonReady : null,
    READY: lacking.length > 0 ? words.cannotIssue : few.length > 0 ? words.readyBut : words.isReady,
    SUSPENDED: words.isSuspended,
  }[status];
  const reason =
    standing.kind === 'operator' &&
    enterprise.suspensionReason &&
    html`<p><span class="soft">${words.suspendedFor}</span> ${enterprise.suspensionReason}</p>`;
  const role =
    standing.kind === 'member' && html` · ${words.yourRole}: ${visit.texts.members.roles[standing.role]}`;
  return panel(
    words.readiness,
    html`<p>${mark(words.statuses[status], STATUS_TONES[status])} ${enterprise.legalName} · ${words.rut} <code>${enterprise.rut}</code>${role}</p>${says !== null && html`<p>${says}</p>`}${reason}${list}`,
  );
}

/** A type whose numbers run low, and what to do about it. */
function lowItem({ texts }: Visit, { type, numbersLeft, daysLeft: days }: LowNumbers): Html {
  const { enterprises: words } = texts;
  const { label } = CFE_TYPES[type];
  const what = numbersLeft === 0 ? words.noNumbers(label) : words.lowNumbers(label, days);
  return html`<li><a href="#caes"><strong>${what}</strong></a> ${lowMark(texts, numbersLeft)}<br>${numbersLeft === 0 && `${words.noNumbersMean} `}${words.todo.okCae}</li>`;
}

function loginPanel({ enterprise, standing, visit }: Drawn): Html {
  const { enterprises: words } = visit.texts;
  const { loginStatus, efacturaStatus, lastValidatedAt, permissions } = enterprise;
  const tone = { NOT_ATTEMPTED: 'calm', SUCCESS: 'good', FAILED: 'bad' } as const;
  const rows = [
    [words.loginState, mark(words.loginStates[loginStatus], tone[loginStatus])],
    [words.checkState, words.checkStates[efacturaStatus]],
    [words.checkedAt, lastValidatedAt ? moment(lastValidatedAt) : visit.texts.never],
    ...PERMISSIONS.map((one) => [
      words.permissionNames[one],
      permissions.includes(one) ? mark(words.held, 'good') : mark(words.missing, 'wait'),
    ]),
  ];
  return panel(
    words.login,
    html`${facts(rows)}${mayAt(standing, MEMBERS) && forms.loginForm(visit, enterprise.rut)}`,
  );
}

/** Pairs of a name and what it is. */
const facts = (rows: readonly (readonly (Html | string)[])[]): Html =>
  html`<dl class="facts">${rows.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;

async function certificatePanel({ enterprise, standing, visit, deps, today }: Drawn): Promise<Html> {
  const { enterprises: words } = visit.texts;
  const certificate = await currentCertificate(deps.orm.em.fork(), enterprise.rut, 'production');
  const shown = certificate
    ? facts([
        [words.subject, certificate.subject],
        [words.from, html`<time>${montevideoDate(certificate.notBefore)}</time>`],
        [words.ends, ending(visit.texts, montevideoDate(certificate.notAfter), today)],
      ])
    : nothing(words.certificateNone);
  return panel(
    words.certificate,
    html`${shown}${mayAt(standing, OWNERS) && forms.certificateForm(visit, enterprise.rut)}`,
  );
}

function caesPanel({ enterprise, standing, visit, today, caes, used, low }: Drawn): Html {
  const { enterprises: words } = visit.texts;
  const isLow = (type: CfeType): boolean => low.some((one) => one.type === type);
  const rows = caes.toSorted(byEnd).map((cae) => {
    const lasts = daysLeft(cae.numbersLeft, used.get(cae.type) ?? 0);
    const left = figure(cae.numbersLeft);
    return [
      CFE_TYPES[cae.type].label,
      cae.serie,
      `${cae.numberStart}–${cae.numberEnd}`,
      cae.lastNumber < cae.numberStart ? visit.texts.never : String(cae.lastNumber),
      isLow(cae.type) ? mark(left, cae.numbersLeft === 0 ? 'bad' : 'wait') : left,
      lasts === null ? visit.texts.never : age(lasts * 86_400_000, visit.texts),
      ending(visit.texts, cae.expirationDate, today),
      html`<code>${cae.authorizationNumber}</code>`,
    ];
  });
  const heads = [
    words.type,
    words.serie,
    words.range,
    words.last,
    words.left,
    words.lasts,
    words.ends,
    words.authorization,
  ];
  const shown = rows.length === 0 ? nothing(words.caesNone) : table(words.caes, heads, rows, [2, 3, 4, 5]);
  return panel(words.caes, html`${shown}${mayAt(standing, MEMBERS) && forms.caeForm(visit, enterprise.rut)}`);
}

/** The first to end first. */
const byEnd = (a: CaeRow, b: CaeRow): number => (a.expirationDate < b.expirationDate ? -1 : 1);

async function branchesPanel({ enterprise, standing, visit, deps }: Drawn): Promise<Html> {
  const { enterprises: words } = visit.texts;
  const { rut } = enterprise;
  const may = mayAt(standing, OWNERS);
  const others = await listBranches(deps.orm.em.fork(), rut);
  const rows = [enterprise, ...others].map((one) => {
    const isOwn = one === enterprise;
    const closedAt = 'closedAt' in one ? one.closedAt : null;
    const { branch, streetName, localityName, departmentName, phoneNumber } = one;
    const facts = { branch, streetName, localityName, departmentName, phoneNumber, isOwn };
    return [
      html`${branch} ${isOwn && html`<span class="soft">${words.ownBranch}</span>`}${closedAt && mark(words.closed, 'calm')}`,
      streetName,
      localityName,
      departmentName,
      phoneNumber ?? '',
      ...(may ? [!closedAt && forms.branchForms(visit, rut, facts)] : []),
    ];
  });
  const heads = [words.branch, words.street, words.locality, words.department, words.phone];
  return panel(
    words.branches,
    html`${table(words.branches, [...heads, ...(may ? [words.acting] : [])], rows)}${may && forms.newBranchForm(visit, rut)}`,
  );
}

async function dataPanel({ enterprise, standing, visit, deps }: Drawn): Promise<Html> {
  const { enterprises: words } = visit.texts;
  const may = mayAt(standing, OWNERS);
  const logo =
    enterprise.logoSha256 === null || enterprise.logoSha256 === undefined
      ? html`<p class="soft">${words.logoNone}</p>`
      : html`<p><img class="logo" src="/enterprises/${enterprise.rut}/logo" alt="${words.logo}"></p>`;
  if (!may) return panel(words.data, html`${facts(dataRows(visit, enterprise))}${logo}`);
  const plans = await listPlans(deps.orm.em.fork());
  return panel(
    words.data,
    html`${facts(dataRows(visit, enterprise))}${forms.dataForm(visit, enterprise, plans)}${logo}${forms.logoForms(visit, enterprise)}`,
  );
}

function dataRows(visit: Visit, enterprise: Enterprise): [string, Html | string][] {
  const { enterprises: words, never } = visit.texts;
  const date = enterprise.scheduledReadyDate;
  return [
    [words.legalName, enterprise.legalName],
    [words.tradeName, enterprise.tradeName ?? never],
    [words.street, `${enterprise.streetName}, ${enterprise.localityName}, ${enterprise.departmentName}`],
    [words.phone, enterprise.phoneNumber ?? never],
    [words.website, enterprise.website ?? never],
    [words.issuerSince, enterprise.issuerSince ?? never],
    [words.resolution, enterprise.resolution ?? never],
    [
      words.plan,
      enterprise.planId
        ? planName(visit, { planId: enterprise.planId, frequencyId: enterprise.frequencyId })
        : never,
    ],
    [words.startDate, date ? moment(date) : never],
  ];
}

async function mailPanel({ enterprise, visit, deps }: Drawn): Promise<Html> {
  const { enterprises: words, never } = visit.texts;
  const entry = await findDirectoryEntry(deps.orm.em.fork(), enterprise.rut);
  return panel(
    words.exchange,
    facts([
      [words.replies, enterprise.email ?? never],
      [words.directory, entry?.mail ?? words.directoryNone],
    ]),
  );
}

async function reportsPanel({ enterprise, standing, visit, deps, now, today }: Drawn): Promise<Html> {
  const { enterprises: words } = visit.texts;
  const { rut } = enterprise;
  const em = deps.orm.em.fork();
  // Of this enterprise alone, which somebody sees who is here.
  const found = await reportsSeen(em, null, { rut }, { after: null, limit: REPORTS });
  const duty = await findReportDuty(em, rut);
  const shown = found.length === 0 ? nothing(words.reportsNone) : reportTable(visit, found, now);
  const until = duty?.untilDate;
  const told = duty
    ? [words.dutyFrom(duty.fromDate), ...(until ? [words.dutyUntil(until)] : [])].join(', ')
    : words.dutyNone;
  return panel(
    words.reports,
    html`<p>${words.duty} ${told}</p>${shown}<div class="more"><a href="${link('/reports', { rut })}">${words.reportsAll}</a></div>${mayAt(standing, SUPPORT) && forms.sendDayForm(visit, rut, today)}${mayAt(standing, ADMINS) && forms.dutyForm(visit, rut)}`,
  );
}

/** The numbers annulled of an enterprise, as a list of its own on the page. */
function annulmentList(
  visit: Visit,
  { orm }: ConsoleDeps,
  { enterprise: { rut } }: AtEnterprise,
  query: Readonly<Record<string, string | undefined>>,
): List<AnnulledSpan> {
  const { enterprises: words, environments } = visit.texts;
  const em = orm.em.fork();
  return {
    label: words.annulments,
    name: 'annulments',
    path: enterprisePath(rut),
    query,
    isPart: true,
    columns: [
      {
        key: 'cfe_type',
        head: words.type,
        cell: ({ type }) => CFE_TYPES[type].label,
        csv: ({ type }) => type,
      },
      { key: 'serie', head: words.serie, cell: ({ serie }) => serie, csv: ({ serie }) => serie },
      {
        key: 'from',
        head: words.fromNumber,
        isFigure: true,
        cell: ({ from }) => String(from),
        csv: ({ from }) => from,
      },
      { key: 'to', head: words.toNumber, isFigure: true, cell: ({ to }) => String(to), csv: ({ to }) => to },
      {
        key: 'reason',
        head: words.reason,
        cell: ({ reason }) => words.annulReasons[reason],
        csv: ({ reason }) => reason,
      },
      {
        key: 'report_date',
        head: words.reportDay,
        cell: ({ reportDate }) => html`<time>${reportDate}</time>`,
        csv: ({ reportDate }) => reportDate,
      },
      {
        key: 'annulled_at',
        head: words.annulledAt,
        cell: ({ annulledAt }) => moment(annulledAt),
        csv: ({ annulledAt }) => annulledAt,
      },
      {
        key: 'environment',
        head: words.environment,
        cell: ({ environment }) => environments[environment],
        csv: ({ environment }) => environment,
      },
    ],
    read: ({ after, limit }) => annulmentsOf(em, rut, { after: after?.[0] ?? null, limit }),
    key: { parts: ['number'], of: ({ id }) => [id] },
    empty: words.annulmentsNone,
  };
}

async function annulmentsPanel(
  { enterprise, standing, visit }: Drawn,
  list: List<AnnulledSpan>,
): Promise<Html> {
  const { enterprises: words } = visit.texts;
  return panel(
    words.annulments,
    html`${await listPart(visit, list)}${mayAt(standing, OWNERS) && forms.annulForm(visit, enterprise.rut)}`,
  );
}

/** Who has a role here: all of them for operators and owners; others learn of no account but theirs. */
async function accountsPanel({ enterprise, standing, visit, deps }: Drawn): Promise<Html> {
  const { enterprises: words } = visit.texts;
  const { rut } = enterprise;
  const all = await accountsAt(deps.orm.em.fork(), rut);
  const isOwners =
    standing.kind === 'member' &&
    all.some(({ accountId, role }) => accountId === standing.accountId && role === 'OWNER');
  const seen =
    standing.kind === 'operator' || isOwners
      ? all
      : all.filter(({ accountId }) => accountId === standing.accountId);
  const may = mayAt(standing, ADMINS);
  const rows = seen.map(({ accountId, name, role }) => [
    name,
    visit.texts.members.roles[role],
    ...(may
      ? [html`<code>${accountId}</code>`, role !== 'OWNER' && forms.withdrawForm(visit, rut, accountId)]
      : []),
  ]);
  const heads = [words.account, words.role, ...(may ? [words.accountId, words.acting] : [])];
  return panel(
    words.accounts,
    html`${table(words.accounts, heads, rows)}${may && forms.grantForm(visit, rut)}`,
  );
}

function actsPanel({ enterprise, standing, visit }: Drawn): Html {
  if (!mayAt(standing, ADMINS)) return html``;
  return panel(visit.texts.enterprises.acts, forms.actForms(visit, enterprise));
}

/** GET /enterprises/{rut}/logo: the picture that receipts are printed with. */
export const enterpriseLogo = definePage({
  name: 'enterprise-logo',
  method: 'GET',
  path: '/enterprises/{rut}/logo',
  audience: READERS,
  params: z.object({ rut: Rut }),
  query: z.object({}),
  form: z.object({}),
  async handle({ params, visit }, deps) {
    const { enterprise } = await atEnterprise(visit, deps, params.rut);
    const logo = enterprise.logoSha256 && (await findLogo(deps.orm.em.fork(), enterprise.logoSha256));
    if (!logo) throw new Refusal('NOT_FOUND', 'NOT_FOUND');
    const type = logo.mediaType;
    const name = `logo-${params.rut}.${type.split('/')[1] ?? ''}`;
    return { kind: 'file', name, type, content: Buffer.from(logo.bytes) };
  },
});
