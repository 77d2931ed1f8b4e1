import * as z from 'zod';
import { setUiValues } from '../../../commands/receipts/rates.ts';
import type { UiValue } from '../../../db/entities/operations.ts';
import { listUiValues } from '../../../db/receipts/rates.ts';
import type { ReportRow } from '../../../db/reports/consoleReports.ts';
import { UiValueInput } from '../../../domain/operations/operatorFiles.ts';
import { ENVIRONMENTS } from '../../../domain/receipts/cfeTypes.ts';
import type { SubmissionStatus } from '../../../domain/reports/reportStatus.ts';
import { parseTypedInteger, parseTypedNumber } from '../../../domain/values/decimal.ts';
import { decimalText } from '../../../domain/values/figures.ts';
import { filterValues } from '../../../lists/list.ts';
import { RATES, REPORTS } from '../../../lists/reports.ts';
import { type Html, html } from '../../../page/html.ts';
import { CFE_WORDS } from '../../../words/cfeStates.ts';
import { REPORT_WORDS } from '../../../words/reportStates.ts';
import { accountsOf } from '../../access/access.ts';
import { mayOpen } from '../../access/permissions.ts';
import { choice, text } from '../../fields.ts';
import { filterFields, filterSchemas, listQuery } from '../../filters.ts';
import { defineForm, formWords } from '../../form.ts';
import { dateOf, timeOf } from '../../format.ts';
import { columnsWithHeading, figures, type Headings, showList } from '../../lists.ts';
import { definePage, signedIn, type Visit } from '../../page.ts';
import { badge, panel, table } from '../../parts.ts';

/** Colours of the statuses of reports and submissions. */
const TONES = {
  OPEN: 'calm',
  PREPARED: 'calm',
  SENT: 'wait',
  RECEIVED: 'wait',
  CONSISTENT: 'good',
  DIFFERS: 'bad',
  SUPERSEDED: 'bad',
  REFUSED: 'bad',
} as const satisfies Record<SubmissionStatus | 'OPEN', string>;

export const reportMark = ({ language }: Visit, status: SubmissionStatus | 'OPEN'): Html =>
  badge(REPORT_WORDS[language].status[status].label, TONES[status]);

export const reportPath = ({
  rut,
  environment,
  date: day,
}: Pick<ReportRow, 'rut' | 'environment' | 'date'>): string => `/reports/${rut}/${environment}/${day}`;

/** Renders the authority's deadline, marked as overdue if DGI has no report of the day. */
function renderDue({ texts }: Visit, { dueAt, status }: ReportRow, now: Date): Html {
  const isLate = dueAt < now && (status === 'OPEN' || status === 'SENT' || status === 'REFUSED');
  return html`${timeOf(dueAt)}${isLate && html` ${badge(texts.reports.overdue, 'bad')}`}`;
}

const stuck = ({ language }: Visit, { stuckReason }: ReportRow): Html | null =>
  stuckReason === null ? null : badge(CFE_WORDS[language].stuck[stuckReason].label, 'bad');

const FILTERS = {
  ...filterSchemas(REPORTS),
  needs: z.enum(['person', 'late']),
  environment: z.enum(ENVIRONMENTS),
} as const;

/** GET /reports: the daily reports with their status; first those that need attention. */
export const reportsPage = definePage({
  name: 'reports',
  route: 'GET /reports',
  query: listQuery(FILTERS),
  async handle({ query, visit }, deps) {
    const { reports: words, environments } = visit.texts;
    const { environment, needs } = query;
    const now = deps.businessClock();
    const lateAt = needs === 'late' ? now : undefined;
    const filter = { ...filterValues(REPORTS, query), environment, stuck: needs === 'person', lateAt };
    const { viewer } = signedIn(visit);
    return showList(visit, deps, REPORTS, {
      title: words.title,
      search: { ...filter, accounts: accountsOf(viewer) },
      path: '/reports',
      query,
      filters: filterFields(FILTERS, {
        rut: words.rut,
        status: [words.status, REPORT_WORDS[visit.language].status],
        needs: [words.only, { person: words.needsOnly, late: words.lateOnly }],
        from: words.from,
        to: words.to,
        environment: [words.environment, environments],
      }),
      headings: {
        ...dayHeadings(visit, now),
        rut: [words.enterprise, ({ legalName, rut }) => html`${legalName} <span class="soft">${rut}</span>`],
      },
      href: (row) => reportPath(row),
      empty: words.none,
      emptyAtFirst: words.noneYet,
      live: ['reports'],
      ...(mayOpen(viewer, 'GET /rates') ? { above: html`<p><a href="/rates">${words.rates}</a></p>` } : {}),
    });
  },
});

function dayHeadings(visit: Visit, now: Date): Headings<ReportRow, typeof REPORTS.columns> {
  const { reports: words, environments } = visit.texts;
  return {
    date: [words.day, (row) => dateOf(row.date)],
    status: [words.status, ({ status }) => reportMark(visit, status)],
    stuck_reason: [words.needs, (row) => stuck(visit, row)],
    sequence: figures(words.sequence),
    is_complete: [words.complete, ({ isComplete }) => (isComplete ? words.yes : words.no)],
    due_at: [words.due, (row) => renderDue(visit, row, now)],
    environment: [words.environment, ({ environment }) => environments[environment]],
  };
}

/** Renders some reports of one enterprise, for its page. */
export function reportTable(visit: Visit, reports: readonly ReportRow[], now: Date): Html {
  const columns = columnsWithHeading(REPORTS, dayHeadings(visit, now));
  const rows = reports.map((report) =>
    columns.map((column, i) =>
      i === 0 ? html`<a href="${reportPath(report)}">${column.cell(report)}</a>` : column.cell(report),
    ),
  );
  const heads = columns.map(({ head }) => head);
  return table(visit.texts.enterprises.reports, heads, rows, [3]);
}

export const uiValueForm = defineForm('POST /rates/ui', {
  as: 'folded',
  words: ({ reports: words }) => formWords(words, 'ui'),
  fields: ({ reports: words }) => {
    const { year, value, source } = UiValueInput.shape;
    return {
      year: text(words.uiYear, {
        schema: z.string().transform(parseTypedInteger).pipe(year),
        inputmode: 'numeric',
        maxlength: 4,
      }),
      value: text(words.uiValue, {
        schema: z.string().transform(parseTypedNumber).pipe(value),
        maxlength: 13,
      }),
      source: text(words.source, { schema: source }),
      kind: choice(words.uiKind, [
        ['published', words.uiPublished],
        ['estimate', words.uiEstimate],
      ]),
    };
  },
  back: () => '/rates',
  command: ({ form: { kind, ...row } }, deps) =>
    setUiValues(deps, [{ ...row, estimate: kind === 'estimate' }]),
});

/** Renders the UI values of all years and, for administrators, the form to set one. */
function uiValuePanel(visit: Visit, values: readonly UiValue[]): Html {
  const { reports: words, numerals } = visit.texts;
  const rows = values.map(({ year, value, source, estimate }) => [
    String(year),
    decimalText(value, undefined, numerals),
    estimate ? words.uiEstimate : words.uiPublished,
    source,
  ]);
  const heads = [words.uiYear, words.uiValue, words.uiKind, words.source];
  const change = mayOpen(signedIn(visit).viewer, uiValueForm.route) && uiValueForm.draw(visit, {});
  return panel(words.uiValues, html`${table(words.uiValues, heads, rows, [1])}${change}`);
}

/** GET /rates: the UI values of all years, and the exchange rates of reports, latest day first. */
export const ratesPage = definePage({
  name: 'rates',
  route: 'GET /rates',
  query: listQuery(filterSchemas(RATES)),
  async handle({ query, visit }, deps) {
    const { reports: words } = visit.texts;
    return showList(visit, deps, RATES, {
      title: words.rates,
      above: uiValuePanel(visit, await listUiValues(deps.orm.em.fork())),
      search: filterValues(RATES, query),
      path: '/rates',
      query,
      filters: filterFields(filterSchemas(RATES), { date: words.day }),
      headings: {
        date: [words.day, (row) => dateOf(row.date)],
        currency: words.currency,
        rate: figures(words.rate, ({ rate }) => decimalText(rate, undefined, visit.texts.numerals)),
        source: words.source,
      },
      empty: words.ratesNone,
    });
  },
});
