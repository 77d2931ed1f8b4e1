import * as z from 'zod';
import { type ListedEnterprise, listVisibleEnterprises } from '../../../db/enterprises/consoleEnterprises.ts';
import {
  DOCUMENT_WARNING_KINDS,
  type DocumentWarning,
  listDocumentWarnings,
} from '../../../db/enterprises/documentWarnings.ts';
import { BY_RUT, listOrder } from '../../../db/page.ts';
import {
  ENTERPRISE_STATUSES,
  type EnterpriseStatus,
  READY_FACTS,
  type ReadyFact,
} from '../../../domain/enterprises/enterpriseStatus.ts';
import { CFE_TYPES } from '../../../domain/receipts/cfeTypes.ts';
import { daysBetween, montevideoDate } from '../../../domain/values/montevideo.ts';
import { type Html, html } from '../../../page/html.ts';
import type { Texts } from '../../../words/console.ts';
import { accountsOf } from '../../access/access.ts';
import { enterprisePath } from '../../access/atEnterprise.ts';
import { dateOf, figure, timeOf } from '../../format.ts';
import {
  type Column,
  column,
  figureColumn,
  fileColumn,
  filterFields,
  listQuery,
  showList,
} from '../../lists.ts';
import { definePage, signedIn, type Visit } from '../../page.ts';
import { badge, wholeWords } from '../../parts.ts';

const FACTS = Object.keys(READY_FACTS) as ReadyFact[];
/** Choices of the filter by expiry, in days. */
const WITHIN = [7, 30, 90] as const;
const Within = z.enum(['7', '30', '90']);
const withinOptions = ({ enterprises: words }: Texts) =>
  WITHIN.map((days) => [String(days), words.withinDays(days)] as const);
const FILTERS = {
  text: z.string().max(200),
  status: z.enum(ENTERPRISE_STATUSES),
  lacks: z.enum(FACTS),
  ends: Within,
} as const;
const PAPER_FILTERS = { within: Within, kind: z.enum(DOCUMENT_WARNING_KINDS) } as const;

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

/** Renders the numbers left, if they run low. */
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
    const today = montevideoDate(now);
    const { text, status, lacks, ends } = query;
    const filter = {
      text,
      status,
      missing: lacks,
      endsWithin: ends === undefined ? undefined : Number(ends),
    };
    const em = deps.orm.em.fork();
    return showList<ListedEnterprise>(visit, deps, {
      title: words.title,
      name: 'enterprises',
      path: '/enterprises',
      query,
      filters: filterFields(FILTERS, {
        text: { label: words.text, type: 'search' },
        status: [words.status, words.statuses],
        lacks: [words.missingFacts, words.facts],
        ends: [words.endsWithin, withinOptions(visit.texts)],
      }),
      columns: enterpriseColumns(visit, today),
      read: (page) =>
        listVisibleEnterprises(em, accountsOf(signedIn(visit).viewer), filter, { ...page, now, today }),
      key: BY_RUT,
      href: ({ rut }) => enterprisePath(rut),
      empty: words.none,
      emptyAtFirst: words.noneYet,
      above: html`<p><a href="/papers">${words.papersAll}</a></p>`,
      live: ['papers'],
    });
  },
});

function enterpriseColumns({ texts }: Visit, today: string): Column<ListedEnterprise>[] {
  const { enterprises: words } = texts;
  const missing = ({ missing: facts }: ListedEnterprise): string =>
    facts.map((fact) => words.facts[fact]).join(', ');
  return [
    column('rut', words.rut, 'rut'),
    column('legal_name', words.name, 'legalName'),
    column('status', words.status, 'status', ({ status }) =>
      badge(words.statuses[status], STATUS_TONES[status]),
    ),
    column(
      'lacks',
      words.missingFacts,
      ({ missing: facts }) => facts.join(' '),
      (row) => missing(row) || html`<span class="soft">${words.noMissingFacts}</span>`,
    ),
    column(
      'certificate_ends',
      words.certificateEnds,
      'certificateEnds',
      (row) => row.certificateEnds !== null && renderExpiry(texts, row.certificateEnds, today),
    ),
    column(
      'next_cae_ends',
      words.caeEnds,
      'caeEnds',
      (row) => row.caeEnds !== null && renderExpiry(texts, row.caeEnds, today),
    ),
    column('last_cfe_at', words.lastCfe, 'lastCfeAt', (row) => row.lastCfeAt && timeOf(row.lastCfeAt)),
  ];
}

/** GET /papers: CAEs and certificates that expire soon or expired recently, and numbers that run low; by expiry date. */
export const documentWarningsPage = definePage({
  name: 'papers',
  route: 'GET /papers',
  query: listQuery(PAPER_FILTERS),
  async handle({ query, visit }, deps) {
    const { enterprises: words } = visit.texts;
    const now = deps.businessClock();
    const days = Number(query.within ?? WITHIN[0]);
    const em = deps.orm.em.fork();
    return showList<DocumentWarning>(visit, deps, {
      title: words.papers,
      name: 'papers',
      path: '/papers',
      query: { ...query, within: String(days) },
      filters: filterFields(PAPER_FILTERS, {
        within: [words.within, withinOptions(visit.texts)],
        kind: [words.kind, words.kinds],
      }),
      columns: warningColumns(visit, montevideoDate(now)),
      read: (page) =>
        listDocumentWarnings(
          em,
          accountsOf(signedIn(visit).viewer),
          { now, within: days, kind: query.kind },
          page,
        ),
      key: listOrder({ day: 'date', kind: 'text', id: 'uuid' }),
      href: ({ rut, type }) => enterprisePath(rut, type === null ? 'certificate' : 'caes'),
      empty: words.papersNone,
      live: ['papers'],
    });
  },
});

function warningColumns({ texts }: Visit, today: string): Column<DocumentWarning>[] {
  const { enterprises: words } = texts;
  return [
    column(
      'rut',
      words.name,
      'rut',
      ({ legalName, rut }) => html`${legalName} <span class="soft">${rut}</span>`,
    ),
    column(
      'paper',
      words.paper,
      ({ type }) => type ?? 'CERTIFICATE',
      ({ type }) => wholeWords(type === null ? words.kinds.certificate : `CAE ${CFE_TYPES[type].label}`),
    ),
    fileColumn('kind', words.kind, 'kind'),
    column('serie', words.serie, 'serie'),
    column(
      'authorization_number',
      words.authorization,
      'authorizationNumber',
      (row) => row.authorizationNumber && html`<code>${row.authorizationNumber}</code>`,
    ),
    column('ends', words.ends, 'ends', ({ kind, ends, numbersLeft }) =>
      kind === 'low' ? renderLowNumbers(texts, numbersLeft ?? 0) : renderExpiry(texts, ends, today),
    ),
    figureColumn(
      'numbers_left',
      words.left,
      'numbersLeft',
      (row) => row.numbersLeft !== null && figure(row.numbersLeft, texts),
    ),
  ];
}
