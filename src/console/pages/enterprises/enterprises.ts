import * as z from 'zod';
import type { ListedEnterprise } from '../../../db/enterprises/consoleEnterprises.ts';
import { DOCUMENT_WARNING_KINDS, type DocumentWarning } from '../../../db/enterprises/documentWarnings.ts';
import type { EnterpriseStatus } from '../../../domain/enterprises/enterpriseStatus.ts';
import { CFE_TYPES } from '../../../domain/receipts/cfeTypes.ts';
import { daysBetween, montevideoDate } from '../../../domain/values/montevideo.ts';
import { DOCUMENT_WARNINGS, ENTERPRISES } from '../../../lists/enterprises.ts';
import { filterValues } from '../../../lists/list.ts';
import { type Html, html } from '../../../page/html.ts';
import type { Texts } from '../../../words/console.ts';
import { accountsOf } from '../../access/access.ts';
import { enterprisePath } from '../../access/enterpriseContext.ts';
import { filterFields, filterSchemas, listQuery } from '../../filters.ts';
import { dateOf, figure, timeOf } from '../../format.ts';
import { figures, type Headings, showList } from '../../lists.ts';
import { definePage, signedIn, type Visit } from '../../page.ts';
import { badge, wholeWords } from '../../parts.ts';

/** Choices of the filter by expiry, in days. */
const WITHIN = [7, 30, 90] as const;
const Within = z.enum(['7', '30', '90']);
const withinOptions = ({ enterprises: words }: Texts) =>
  WITHIN.map((days) => [String(days), words.withinDays(days)] as const);
const FILTERS = { ...filterSchemas(ENTERPRISES), ends: Within } as const;
const WARNING_FILTERS = { within: Within, kind: z.enum(DOCUMENT_WARNING_KINDS) } as const;

/** Colours of the statuses. */
export const STATUS_TONES = { PENDING: 'wait', READY: 'good', SUSPENDED: 'bad' } as const satisfies Record<
  EnterpriseStatus,
  string
>;

/** Renders an expiry date, with the days until it. */
export function renderExpiry(texts: Texts, date: string, today: string): Html {
  const days = daysBetween(today, date);
  const tone = days < 0 ? 'bad' : days <= 7 ? 'wait' : 'calm';
  return html`${dateOf(date)} ${badge(texts.enterprises.days(days), tone)}`;
}

/** Renders that few or no numbers are left. */
export const renderLowNumbers = ({ enterprises: words }: Texts, left: number): Html =>
  left === 0 ? badge(words.exhausted, 'bad') : badge(words.runsLow, 'wait');

/** GET /enterprises: the enterprises that the viewer sees, with their missing facts. */
export const enterprisesPage = definePage({
  name: 'enterprises',
  route: 'GET /enterprises',
  query: listQuery(FILTERS),
  async handle({ query, visit }, deps) {
    const { enterprises: words } = visit.texts;
    const now = deps.businessClock();
    return showList(visit, deps, ENTERPRISES, {
      title: words.title,
      path: '/enterprises',
      query,
      search: {
        ...filterValues(ENTERPRISES, query),
        endsWithin: query.ends === undefined ? undefined : Number(query.ends),
        accounts: accountsOf(signedIn(visit).viewer),
        now,
      },
      filters: filterFields(FILTERS, {
        text: { label: words.text, type: 'search' },
        status: [words.status, words.statuses],
        lacks: [words.missingFacts, words.facts],
        ends: [words.endsWithin, withinOptions(visit.texts)],
      }),
      headings: enterpriseHeadings(visit, montevideoDate(now)),
      href: ({ rut }) => enterprisePath(rut),
      empty: words.none,
      emptyAtFirst: words.noneYet,
      above: html`<p><a href="/warnings">${words.warningsAll}</a></p>`,
      live: ['warnings'],
    });
  },
});

function enterpriseHeadings(
  { texts }: Visit,
  today: string,
): Headings<ListedEnterprise, typeof ENTERPRISES.columns> {
  const { enterprises: words } = texts;
  const missing = ({ missing: facts }: ListedEnterprise): string =>
    facts.map((fact) => words.facts[fact]).join(', ');
  return {
    rut: words.rut,
    legal_name: words.name,
    status: [words.status, ({ status }) => badge(words.statuses[status], STATUS_TONES[status])],
    lacks: [
      words.missingFacts,
      (row) => missing(row) || html`<span class="soft">${words.noMissingFacts}</span>`,
    ],
    certificate_ends: [
      words.certificateEnds,
      (row) => row.certificateEnds !== null && renderExpiry(texts, row.certificateEnds, today),
    ],
    next_cae_ends: [words.caeEnds, (row) => row.caeEnds !== null && renderExpiry(texts, row.caeEnds, today)],
    last_cfe_at: [words.lastCfe, (row) => row.lastCfeAt && timeOf(row.lastCfeAt)],
  };
}

/** GET /warnings: documents that expire soon or expired recently, and numbers that run low; by expiry date. */
export const documentWarningsPage = definePage({
  name: 'warnings',
  route: 'GET /warnings',
  query: listQuery(WARNING_FILTERS),
  async handle({ query, visit }, deps) {
    const { enterprises: words } = visit.texts;
    const now = deps.businessClock();
    const days = Number(query.within ?? WITHIN[0]);
    return showList(visit, deps, DOCUMENT_WARNINGS, {
      title: words.warnings,
      search: { accounts: accountsOf(signedIn(visit).viewer), now, within: days, kind: query.kind },
      path: '/warnings',
      query: { ...query, within: String(days) },
      filters: filterFields(WARNING_FILTERS, {
        within: [words.within, withinOptions(visit.texts)],
        kind: [words.kind, words.kinds],
      }),
      headings: warningHeadings(visit, montevideoDate(now)),
      href: ({ rut, type }) => enterprisePath(rut, type === null ? 'certificate' : 'caes'),
      empty: words.warningsNone,
      live: ['warnings'],
    });
  },
});

function warningHeadings(
  { texts }: Visit,
  today: string,
): Headings<DocumentWarning, typeof DOCUMENT_WARNINGS.columns> {
  const { enterprises: words } = texts;
  return {
    rut: [words.name, ({ legalName, rut }) => html`${legalName} <span class="soft">${rut}</span>`],
    document: [
      words.document,
      ({ type }) => wholeWords(type === null ? words.kinds.certificate : `CAE ${CFE_TYPES[type].label}`),
    ],
    serie: words.serie,
    authorization_number: [
      words.authorization,
      (row) => row.authorizationNumber && html`<code>${row.authorizationNumber}</code>`,
    ],
    ends: [
      words.ends,
      ({ kind, ends, numbersLeft }) =>
        kind === 'low' ? renderLowNumbers(texts, numbersLeft ?? 0) : renderExpiry(texts, ends, today),
    ],
    numbers_left: figures(words.left, (row) => row.numbersLeft !== null && figure(row.numbersLeft, texts)),
  };
}
