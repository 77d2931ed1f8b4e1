import * as z from 'zod';
import { enterprisesSeen, type ListedEnterprise } from '../../db/consoleEnterprises.ts';
import { type NeedyPaper, needyPapers, PAPER_KINDS } from '../../db/consolePapers.ts';
import { CFE_TYPES } from '../../domain/cfeTypes.ts';
import {
  ENTERPRISE_STATUSES,
  type EnterpriseStatus,
  READY_FACTS,
  type ReadyFact,
} from '../../domain/enterpriseStatus.ts';
import { daysBetween, montevideoDate } from '../../domain/montevideo.ts';
import { type Html, html } from '../../page/html.ts';
import { accountsOf } from '../access.ts';
import { enterprisePath, READERS } from '../atEnterprise.ts';
import { figure, moment } from '../format.ts';
import { type Column, LIST_QUERY, listing } from '../lists.ts';
import { definePage, signedIn, type Visit } from '../page.ts';
import { mark, wholeWords } from '../parts.ts';
import type { Texts } from '../texts/index.ts';

const FACTS = Object.keys(READY_FACTS) as ReadyFact[];
/** Days within which a paper may be asked to end. */
const WITHIN = [7, 30, 90] as const;
const Within = z.enum(['7', '30', '90']);
const within = ({ enterprises: words }: Texts) =>
  WITHIN.map((days) => [String(days), words.withinDays(days)] as const);

/** The colour of where an enterprise stands. */
export const STATUS_TONES = { PENDING: 'wait', READY: 'good', SUSPENDED: 'bad' } as const satisfies Record<
  EnterpriseStatus,
  string
>;

/** A day on which something ends, with how far it is from today. */
export function ending(texts: Texts, day: string, today: string): Html {
  const days = daysBetween(today, day);
  const tone = days < 0 ? 'bad' : days <= 7 ? 'wait' : 'calm';
  return html`<time>${day}</time> ${mark(texts.enterprises.days(days), tone)}`;
}

/** How few numbers are left, where they run low. */
export const lowMark = ({ enterprises: words }: Texts, left: number): Html =>
  left === 0 ? mark(words.exhausted, 'bad') : mark(words.runsLow, 'wait');

/** GET /enterprises: those that somebody sees, and what each lacks. */
export const enterprisesPage = definePage({
  name: 'enterprises',
  method: 'GET',
  path: '/enterprises',
  audience: READERS,
  query: z.object({
    ...LIST_QUERY,
    text: z.string().max(200).optional(),
    status: z.enum(ENTERPRISE_STATUSES).optional(),
    lacks: z.enum(FACTS).optional(),
    ends: Within.optional(),
  }),
  async handle({ query, visit }, deps) {
    const { enterprises: words } = visit.texts;
    const now = deps.businessClock();
    const today = montevideoDate(now);
    const { text, status, lacks, ends } = query;
    const filter = { text, status, lacks, endsWithin: ends === undefined ? undefined : Number(ends) };
    const em = deps.orm.em.fork();
    return listing<ListedEnterprise>(visit, deps, {
      title: words.title,
      label: words.title,
      name: 'enterprises',
      path: '/enterprises',
      query,
      filters: [
        { name: 'text', label: words.text, type: 'search' },
        {
          name: 'status',
          label: words.status,
          options: ENTERPRISE_STATUSES.map((one) => [one, words.statuses[one]] as const),
        },
        { name: 'lacks', label: words.lacks, options: FACTS.map((one) => [one, words.facts[one]] as const) },
        { name: 'ends', label: words.endsWithin, options: within(visit.texts) },
      ],
      columns: enterpriseColumns(visit, today),
      read: ({ after, limit }) =>
        enterprisesSeen(em, accountsOf(signedIn(visit).viewer), filter, {
          after: after?.[0] ?? null,
          limit,
          now,
          today,
        }),
      key: { parts: ['text'], of: ({ rut }) => [rut] },
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
  const lacking = ({ lacks }: ListedEnterprise): string => lacks.map((fact) => words.facts[fact]).join(', ');
  return [
    { key: 'rut', head: words.rut, cell: ({ rut }) => rut, csv: ({ rut }) => rut },
    { key: 'legal_name', head: words.name, cell: (row) => row.legalName, csv: (row) => row.legalName },
    {
      key: 'status',
      head: words.status,
      cell: ({ status }) => mark(words.statuses[status], STATUS_TONES[status]),
      csv: ({ status }) => status,
    },
    {
      key: 'lacks',
      head: words.lacks,
      cell: (row) => lacking(row) || html`<span class="soft">${words.lacksNothing}</span>`,
      csv: ({ lacks }) => lacks.join(' '),
    },
    {
      key: 'certificate_ends',
      head: words.certificateEnds,
      cell: (row) => row.certificateEnds !== null && ending(texts, row.certificateEnds, today),
      csv: (row) => row.certificateEnds,
    },
    {
      key: 'next_cae_ends',
      head: words.caeEnds,
      cell: (row) => row.caeEnds !== null && ending(texts, row.caeEnds, today),
      csv: (row) => row.caeEnds,
    },
    {
      key: 'last_cfe_at',
      head: words.lastCfe,
      cell: (row) => row.lastCfeAt && moment(row.lastCfeAt),
      csv: (row) => row.lastCfeAt,
    },
  ];
}

/** GET /papers: the CAEs and certificates that end soon or ended lately, the first to end first, and numbers that run low. */
export const papersPage = definePage({
  name: 'papers',
  method: 'GET',
  path: '/papers',
  audience: READERS,
  query: z.object({
    ...LIST_QUERY,
    within: Within.optional(),
    kind: z.enum(PAPER_KINDS).optional(),
  }),
  async handle({ query, visit }, deps) {
    const { enterprises: words } = visit.texts;
    const now = deps.businessClock();
    const days = Number(query.within ?? WITHIN[0]);
    const em = deps.orm.em.fork();
    return listing<NeedyPaper>(visit, deps, {
      title: words.papers,
      label: words.papers,
      name: 'papers',
      path: '/papers',
      query: { ...query, within: String(days) },
      filters: [
        { name: 'within', label: words.within, options: within(visit.texts) },
        {
          name: 'kind',
          label: words.kind,
          options: PAPER_KINDS.map((kind) => [kind, words.kinds[kind]] as const),
        },
      ],
      columns: paperColumns(visit, montevideoDate(now)),
      read: ({ after, limit }) => {
        const [day = '', kind = '', id = ''] = after ?? [];
        const seen = accountsOf(signedIn(visit).viewer);
        const place = { after: after && ([day, kind, id] as const), limit };
        return needyPapers(em, seen, { now, within: days, kind: query.kind }, place);
      },
      key: { parts: ['date', 'text', 'uuid'], of: ({ day, kind, id }) => [day, kind, id] },
      href: ({ rut, type }) => enterprisePath(rut, type === null ? 'certificate' : 'caes'),
      empty: words.papersNone,
      live: ['papers'],
    });
  },
});

function paperColumns({ texts }: Visit, today: string): Column<NeedyPaper>[] {
  const { enterprises: words } = texts;
  return [
    {
      key: 'rut',
      head: words.name,
      cell: ({ legalName, rut }) => html`${legalName} <span class="soft">${rut}</span>`,
      csv: ({ rut }) => rut,
    },
    {
      key: 'paper',
      head: words.paper,
      cell: ({ type }) =>
        wholeWords(type === null ? words.kinds.certificate : `CAE ${CFE_TYPES[type].label}`),
      csv: ({ type }) => type ?? 'CERTIFICATE',
    },
    { key: 'kind', head: words.kind, csvOnly: true, cell: ({ kind }) => kind, csv: ({ kind }) => kind },
    { key: 'serie', head: words.serie, cell: ({ serie }) => serie, csv: ({ serie }) => serie },
    {
      key: 'authorization_number',
      head: words.authorization,
      cell: (row) => row.authorizationNumber && html`<code>${row.authorizationNumber}</code>`,
      csv: (row) => row.authorizationNumber,
    },
    {
      key: 'ends',
      head: words.ends,
      cell: ({ kind, ends, numbersLeft }) =>
        kind === 'low' ? lowMark(texts, numbersLeft ?? 0) : ending(texts, ends, today),
      csv: ({ ends }) => ends,
    },
    {
      key: 'numbers_left',
      head: words.left,
      isFigure: true,
      cell: (row) => row.numbersLeft !== null && figure(row.numbersLeft),
      csv: (row) => row.numbersLeft,
    },
  ];
}
