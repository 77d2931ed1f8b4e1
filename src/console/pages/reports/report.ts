import * as z from 'zod';
import { sendReport } from '../../../commands/reports/sendReport.ts';
import { supportReport } from '../../../commands/reports/supportReport.ts';
import type { DailyReport, ReportSubmission } from '../../../db/entities/reports.ts';
import { countHeldNumbers } from '../../../db/reports/consoleReports.ts';
import {
  findReport,
  listSubmissions,
  listUnsettledCfes,
  type ReportKey,
  type UnsettledCfe,
} from '../../../db/reports/dailyReports.ts';
import { formatCfeId } from '../../../domain/receipts/cfeId.ts';
import { CFE_TYPES } from '../../../domain/receipts/cfeTypes.ts';
import type { RejectionReason } from '../../../domain/receipts/rejection.ts';
import { availableReportActs, type ReportAct } from '../../../domain/reports/reportStatus.ts';
import { COMPONENTS, type TypeSummary } from '../../../domain/reports/summary.ts';
import { dateText, decimalText } from '../../../domain/values/figures.ts';
import { montevideoDate } from '../../../domain/values/montevideo.ts';
import { Refusal } from '../../../errors.ts';
import { type Html, html } from '../../../page/html.ts';
import { CFE_WORDS } from '../../../words/cfeStates.ts';
import type { Texts } from '../../../words/console.ts';
import { REPORT_WORDS } from '../../../words/reportStates.ts';
import { enterprisePath, requireEnterprise } from '../../access/enterpriseContext.ts';
import { mayUse } from '../../access/permissions.ts';
import { reason } from '../../fields.ts';
import { defineForm } from '../../form.ts';
import { dateOf, figure, timeOf } from '../../format.ts';
import { link } from '../../links.ts';
import { type ConsoleDeps, definePage, LocalizedRefusal, show, type Visit } from '../../page.ts';
import { badge, panel, renderEmpty, table } from '../../parts.ts';
import { reportMark, reportPath } from './reports.ts';

const MAX_WAITING = 100;
/** Statuses for which the page compares our figures with the reported ones. */
const COMPARED: readonly string[] = ['DIFFERS', 'REFUSED', 'SUPERSEDED'];

/** Returns the report of a page. Throws NOT_FOUND to a viewer without a role at its enterprise. */
async function requireVisibleReport(visit: Visit, deps: ConsoleDeps, key: ReportKey) {
  const context = await requireEnterprise(visit, deps, key.rut);
  const report = await findReport(deps.orm.em.fork(), key);
  if (!report) throw new Refusal('NOT_FOUND', 'NOT_FOUND');
  return { ...context, report };
}

/** GET /reports/{rut}/{environment}/{date}: one day's report, with its submissions, their results and the actions. */
export const reportPage = definePage({
  name: 'report',
  route: 'GET /reports/{rut}/{environment}/{date}',
  async handle({ params, visit }, deps) {
    const { reports: words, environments } = visit.texts;
    const { report, enterprise, access } = await requireVisibleReport(visit, deps, params);
    const em = deps.orm.em.fork();
    const submissions = await listSubmissions(em, params, { populate: ['types'] });
    const waiting = await listUnsettledCfes(em, params, MAX_WAITING);
    const reported = submissions.at(-1)?.types ?? [];
    const acts = actsOf(report, montevideoDate(deps.businessClock())).filter((act) =>
      mayUse(access, ACTS[act].route),
    );
    const compared = COMPARED.includes(report.status) ? await countHeldNumbers(em, params) : undefined;
    const enterpriseLink = html`<a href="${enterprisePath(params.rut)}">${enterprise.legalName}</a>`;
    const body = html`<p>
        ${enterpriseLink} <span class="soft">${params.rut}</span> · ${environments[params.environment]}
      </p>
      ${statusPanel(visit, report, submissions)}
      ${compared !== undefined && differencePanel(visit, reported, compared)}
      ${acts.map((act) => actPanel(visit, report, act))} ${submissionsPanel(visit, report, submissions)}
      ${panel(
        words.reported,
        reported.length === 0
          ? renderEmpty(words.reportedNone)
          : html`${totalsTable(visit, reported)}${amountsTable(visit, reported)}`,
      )}
      ${panel(words.waitsFor, waitingTable(visit, params, waiting))}`;
    const title = words.of(dateText(params.date), enterprise.tradeName ?? enterprise.legalName);
    return show(title, body, { live: ['reports', 'cfes'] });
  },
});

const actsOf = ({ status, stuckReason, date: day }: DailyReport, today: string): readonly ReportAct[] =>
  availableReportActs({ status, isStuck: stuckReason !== null, date: day }, today);

function statusPanel(visit: Visit, report: DailyReport, submissions: readonly ReportSubmission[]): Html {
  const { reports: words } = visit.texts;
  const { status, stuckReason, isComplete, sequence, dueAt } = report;
  const stuck = stuckReason && CFE_WORDS[visit.language].stuck[stuckReason];
  const reasons = submissions.at(-1)?.reasons ?? [];
  const number = sequence !== null && `${words.sequence} ${sequence}. `;
  return panel(
    words.state,
    html`<p>${reportMark(visit, status)} ${REPORT_WORDS[visit.language].status[status].means}</p>
      <p class="soft">
        ${isComplete ? words.allKnown : words.stillToCome} ${number}${words.due} ${timeOf(dueAt)}
      </p>
      ${reasons.length > 0 && reasonList(visit, reasons)}${
        stuck &&
        html`<p>${badge(stuck.label, 'bad')} ${stuck.means}</p>
          <p><strong>${words.what}:</strong> ${stuck.fix}</p>`
      }`,
  );
}

/** Renders the authority's reasons, each with its meaning. */
function reasonList({ language, texts }: Visit, reasons: readonly RejectionReason[]): Html {
  const { reason, otherReason } = REPORT_WORDS[language];
  return html`<p>${texts.reports.saidByAuthority}:</p>
    <ul>
      ${reasons.map(
        ({ code, message, detail }) =>
          html`<li>
            <code>${code}</code> ${message}${detail !== null && html`: ${detail}`}<br />
            <span class="soft">${code in reason ? reason[code] : otherReason}</span>
          </li>`,
      )}
    </ul>`;
}

/** Renders the reported numbers of each type next to the current ones. */
function differencePanel(
  { texts }: Visit,
  reported: readonly TypeSummary[],
  current: Awaited<ReturnType<typeof countHeldNumbers>>,
): Html {
  const { reports: words } = texts;
  if (current === null) return panel(words.difference, html`<p>${words.differenceMany}</p>`);
  const types = Object.keys(CFE_TYPES).filter((type) =>
    [...reported, ...current].some((one) => one.type === type),
  );
  const rows = types.flatMap((type) => {
    const before = reported.find((one) => one.type === type);
    const now = current.find((one) => one.type === type);
    return (['issued', 'annulled'] as const).map((what) => {
      const [reportedCount, currentCount] = [before?.[what] ?? 0, now?.[what] ?? 0];
      const change = currentCount - reportedCount;
      return [
        CFE_TYPES[type as keyof typeof CFE_TYPES].label,
        words[what],
        figure(reportedCount, texts),
        figure(currentCount, texts),
        change === 0 ? html`<span class="soft">${words.same}</span>` : badge(signed(change, texts), 'bad'),
      ];
    });
  });
  const heads = [words.type, words.numbers, words.toldNow, words.heldNow, words.moved];
  const shown =
    rows.length === 0 ? renderEmpty(words.reportedNone) : table(words.difference, heads, rows, [2, 3, 4]);
  return panel(
    words.difference,
    html`<p>${words.differenceAbout}</p>
      ${shown}`,
  );
}

const signed = (n: number, texts: Texts): string =>
  n > 0 ? `+${figure(n, texts)}` : `−${figure(-n, texts)}`;

function actPanel(visit: Visit, report: DailyReport, act: ReportAct): Html {
  const { title, about, submit } = visit.texts.reports.acts[act];
  return ACTS[act].draw(visit, report, { title, about, submit, isQuiet: act === 'settle' });
}

function submissionsPanel(visit: Visit, report: ReportKey, submissions: readonly ReportSubmission[]): Html {
  const { reports: words, never } = visit.texts;
  if (submissions.length === 0) return panel(words.submissions, renderEmpty(words.submissionsNone));
  const rows = submissions
    .toReversed()
    .map(({ id, sequence, sentAt, answeredAt, status, authorityId, reasons }) => {
      const { means } = REPORT_WORDS[visit.language].status[status];
      const xml = link(`${reportPath(report)}/xml`, { submission: String(id) });
      return [
        String(sequence),
        sentAt ? timeOf(sentAt) : never,
        html`<span title="${means}">${reportMark(visit, status)}</span>`,
        answeredAt ? timeOf(answeredAt) : never,
        authorityId ? html`<code>${authorityId}</code>` : never,
        (reasons ?? []).map(({ code, message }) => `${code} ${message}`).join('; '),
        html`<a href="${xml}" download>${words.download}</a>`,
      ];
    });
  const heads = [
    words.sequence,
    words.sent,
    words.status,
    words.answered,
    words.authorityId,
    words.reasons,
    words.xml,
  ];
  return panel(words.submissions, table(words.submissions, heads, rows, [0]));
}

const ranges = (spans: TypeSummary['usedRanges']): string =>
  spans.map(({ serie, from, to }) => `${serie} ${from === to ? from : `${from}–${to}`}`).join(', ');

function totalsTable({ texts }: Visit, reported: readonly TypeSummary[]): Html {
  const { reports: words, never } = texts;
  const rows = reported.map((one) => [
    CFE_TYPES[one.type].label,
    figure(one.used, texts),
    figure(one.issued, texts),
    figure(one.annulled, texts),
    one.aboveUiLimit === null ? never : figure(one.aboveUiLimit, texts),
    ranges(one.usedRanges),
    ranges(one.annulledRanges) || never,
  ]);
  const heads = [
    words.type,
    words.used,
    words.issued,
    words.annulled,
    words.aboveLimit,
    words.numbers,
    words.annulledNumbers,
  ];
  return table(words.reported, heads, rows, [1, 2, 3, 4]);
}

/** Amounts without a column if all are zero. */
const RARE: readonly string[] = ['perceived', 'suspended', 'otherNet', 'otherVat'];

function amountsTable({ texts }: Visit, reported: readonly TypeSummary[]): Html {
  const { reports: words } = texts;
  const all = reported.flatMap(({ type, rows }) => rows.map((sums) => ({ type, sums })));
  if (all.length === 0) return html``;
  const shown = [...COMPONENTS, 'total' as const].filter(
    (name) => !RARE.includes(name) || all.some(({ sums }) => Number(sums[name]) !== 0),
  );
  const rows = all.map(({ type, sums }) => [
    sums.thirdPartyPayment ? `${CFE_TYPES[type].label} · ${words.thirdParty}` : CFE_TYPES[type].label,
    dateOf(sums.emissionDate),
    String(sums.branch),
    ...shown.map((name) => decimalText(sums[name], undefined, texts.numerals)),
  ]);
  const heads = [words.type, words.emitted, words.branch, ...shown.map((name) => words[name])];
  return table(words.amounts, heads, rows, Array.from(heads.keys()).slice(2));
}

function waitingTable(visit: Visit, { rut, environment }: ReportKey, waiting: readonly UnsettledCfe[]): Html {
  const { reports: words } = visit.texts;
  if (waiting.length === 0) return renderEmpty(words.waitsForNone);
  const rows = waiting.map(({ type, sequence, serie, numero, status }) => {
    const cfeId = formatCfeId({ type, sequence });
    return [
      html`<a href="/cfes/${rut}/${environment}/${cfeId}">${cfeId}</a>`,
      CFE_TYPES[type].label,
      `${serie} ${numero}`,
      CFE_WORDS[visit.language].status[status].label,
    ];
  });
  const more = waiting.length === MAX_WAITING && html`<p class="soft">${words.atMost(MAX_WAITING)}</p>`;
  return html`${table(words.waitsFor, [words.cfe, words.type, words.number, words.status], rows)}${more}`;
}

/** GET …/xml: the sent submission, byte for byte. */
export const reportXml = definePage({
  name: 'report-xml',
  route: 'GET /reports/{rut}/{environment}/{date}/xml',
  query: z.object({ submission: z.string().regex(/^\d{1,18}$/) }),
  async handle({ params, query, visit }, deps) {
    await requireVisibleReport(visit, deps, params);
    const submissions = await listSubmissions(deps.orm.em.fork(), params, { populate: ['xml'] });
    const submission = submissions.find(({ id }) => String(id) === query.submission);
    if (!submission) throw new Refusal('NOT_FOUND', 'NOT_FOUND');
    const name = `reporte-${params.rut}-${params.date}-${submission.sequence}.xml`;
    return { kind: 'file', name, type: 'application/xml', content: submission.xml };
  },
});

/** Defines the form of an action on a report. It is refused if the report's state does not permit the action any more. */
const actForm = (
  act: ReportAct,
  work: (key: ReportKey, reason: string, visit: Visit, deps: ConsoleDeps) => Promise<string>,
) =>
  defineForm(`POST /reports/{rut}/{environment}/{date}/${act}`, {
    as: 'panel',
    onBusinessClock: true,
    fields: ({ reports: words }) => ({ reason: reason(words.reason) }),
    back: ({ params }) => reportPath(params),
    async find({ params, visit }, deps) {
      const { report } = await requireVisibleReport(visit, deps, params);
      const { reports: words } = visit.texts;
      if (!actsOf(report, montevideoDate(deps.businessClock())).includes(act))
        throw new LocalizedRefusal('INVALID_INPUT', act === 'send' ? words.sendNot : words.nothingToDo);
    },
    run: ({ params, form, visit }, deps) => work(params, form.reason, visit, deps),
  });

export const sendNow = actForm('send', async (key, reason, visit, deps) => {
  await sendReport(deps, { ...key, reason });
  return visit.texts.reports.sendDone;
});

const supportForm = (action: 'retry' | 'settle') =>
  actForm(action, async (key, reason, { texts: { reports: words }, requestId }, deps) => {
    const { outcome } = await supportReport(deps, { key, action, reason, requestId });
    if (outcome === 'refused') throw new LocalizedRefusal('INVALID_INPUT', words.refused);
    if (outcome === 'nothing_to_do') return words.nothingToDo;
    return action === 'retry' ? words.retried : words.settled;
  });

export const retry = supportForm('retry');
export const settle = supportForm('settle');
const ACTS = { send: sendNow, retry, settle } as const satisfies Record<ReportAct, unknown>;
