/** The lists on an enterprise's page. */

import { listBranches } from '../../db/enterprises.ts';
import { type AnnulledSpan, annulmentsOf, type CaeRow } from '../../db/numbers.ts';
import { CFE_TYPES, type CfeType } from '../../domain/cfeTypes.ts';
import { daysLeft, type LowNumbers } from '../../domain/warnings.ts';
import { html } from '../../page/html.ts';
import { mayAt } from '../access.ts';
import { type AtEnterprise, enterprisePath, OWNERS } from '../atEnterprise.ts';
import { age, figure, moment } from '../format.ts';
import { type Column, inMemory, type List } from '../lists.ts';
import type { ConsoleDeps, Visit } from '../page.ts';
import { mark, wholeWords } from '../parts.ts';
import { branchForms } from './enterpriseForms.ts';
import { ending } from './enterprises.ts';

type Query = Readonly<Record<string, string | undefined>>;

const at = ({ enterprise: { rut } }: AtEnterprise, query: Query) =>
  ({ path: enterprisePath(rut), query, isPart: true }) as const;

/** The CAEs for production, the first to end first. */
export function caeList(
  visit: Visit,
  place: AtEnterprise,
  numbers: {
    readonly today: string;
    readonly caes: readonly CaeRow[];
    readonly used: ReadonlyMap<CfeType, number>;
    readonly low: readonly LowNumbers[];
  },
  query: Query,
): List<CaeRow> {
  const { enterprises: words } = visit.texts;
  const rows = numbers.caes.toSorted(byEnd);
  return {
    ...at(place, query),
    label: words.caes,
    name: 'caes',
    columns: [...rangeColumns(visit), ...lastingColumns(visit, numbers)],
    ...inMemory(rows, ({ id }) => id),
    empty: words.caesNone,
  };
}

const byEnd = (a: CaeRow, b: CaeRow): number => (a.expirationDate < b.expirationDate ? -1 : 1);

function rangeColumns({ texts: { enterprises: words, never } }: Visit): Column<CaeRow>[] {
  return [
    {
      key: 'cfe_type',
      head: words.type,
      cell: ({ type }) => wholeWords(CFE_TYPES[type].label),
      csv: ({ type }) => type,
    },
    { key: 'serie', head: words.serie, cell: ({ serie }) => serie, csv: ({ serie }) => serie },
    {
      key: 'number_start',
      head: words.range,
      isFigure: true,
      cell: (cae) => `${cae.numberStart}–${cae.numberEnd}`,
      csv: (cae) => cae.numberStart,
    },
    { key: 'number_end', head: words.range, csvOnly: true, cell: () => null, csv: (cae) => cae.numberEnd },
    {
      key: 'last_number',
      head: words.last,
      isFigure: true,
      cell: (cae) => (isUnused(cae) ? never : String(cae.lastNumber)),
      csv: (cae) => (isUnused(cae) ? null : cae.lastNumber),
    },
  ];
}

const isUnused = (cae: CaeRow): boolean => cae.lastNumber < cae.numberStart;

function lastingColumns(
  { texts }: Visit,
  { today, used, low }: { today: string; used: ReadonlyMap<CfeType, number>; low: readonly LowNumbers[] },
): Column<CaeRow>[] {
  const { enterprises: words } = texts;
  const isLow = (type: CfeType): boolean => low.some((one) => one.type === type);
  const lasts = (cae: CaeRow): number | null => daysLeft(cae.numbersLeft, used.get(cae.type) ?? 0);
  return [
    {
      key: 'numbers_left',
      head: words.left,
      isFigure: true,
      cell({ type, numbersLeft }) {
        const left = figure(numbersLeft);
        return isLow(type) ? mark(left, numbersLeft === 0 ? 'bad' : 'wait') : left;
      },
      csv: (cae) => cae.numbersLeft,
    },
    {
      key: 'days_left',
      head: words.lasts,
      isFigure: true,
      cell(cae) {
        const days = lasts(cae);
        return days === null ? texts.never : age(days * 86_400_000, texts);
      },
      csv: lasts,
    },
    {
      key: 'expiration_date',
      head: words.ends,
      cell: (cae) => ending(texts, cae.expirationDate, today),
      csv: (cae) => cae.expirationDate,
    },
    {
      key: 'authorization_number',
      head: words.authorization,
      cell: (cae) => html`<code>${cae.authorizationNumber}</code>`,
      csv: (cae) => cae.authorizationNumber,
    },
  ];
}

/** A branch, that of the enterprise itself among them. */
export interface ListedBranch {
  readonly branch: number;
  readonly streetName: string;
  readonly localityName: string;
  readonly departmentName: string;
  readonly phoneNumber: string | null;
  readonly closedAt: Date | null;
  readonly isOwn: boolean;
}

/** The branches, the enterprise's own first. */
export async function branchList(
  visit: Visit,
  { orm }: Pick<ConsoleDeps, 'orm'>,
  place: AtEnterprise,
  query: Query,
): Promise<List<ListedBranch>> {
  const { enterprises: words } = visit.texts;
  const { enterprise, standing } = place;
  const others = await listBranches(orm.em.fork(), enterprise.rut);
  const rows = [
    { ...factsOf(enterprise), closedAt: null, isOwn: true },
    ...others.map((one) => ({ ...factsOf(one), closedAt: one.closedAt, isOwn: false })),
  ];
  const acts: Column<ListedBranch> = {
    key: 'closed_at',
    head: words.acting,
    cell: (one) => one.closedAt === null && branchForms(visit, enterprise.rut, one),
    csv: ({ closedAt }) => closedAt,
  };
  return {
    ...at(place, query),
    label: words.branches,
    name: 'branches',
    columns: [
      ...branchColumns(visit),
      mayAt(standing, OWNERS) ? acts : { ...acts, csvOnly: true, cell: () => null },
    ],
    ...inMemory(rows, ({ branch }) => String(branch)),
    empty: words.branches,
  };
}

type Located = Pick<ListedBranch, 'branch' | 'streetName' | 'localityName' | 'departmentName'> & {
  readonly phoneNumber?: string | null;
};
const factsOf = ({ branch, streetName, localityName, departmentName, phoneNumber }: Located) => ({
  branch,
  streetName,
  localityName,
  departmentName,
  phoneNumber: phoneNumber ?? null,
});

function branchColumns({ texts: { enterprises: words } }: Visit): Column<ListedBranch>[] {
  return [
    {
      key: 'branch',
      head: words.branch,
      cell: ({ branch, isOwn, closedAt }) =>
        html`${branch} ${isOwn && html`<span class="soft">${words.ownBranch}</span>`}${closedAt && mark(words.closed, 'calm')}`,
      csv: ({ branch }) => branch,
    },
    {
      key: 'street_name',
      head: words.streetName,
      cell: (one) => one.streetName,
      csv: (one) => one.streetName,
    },
    {
      key: 'locality_name',
      head: words.localityName,
      cell: (one) => one.localityName,
      csv: (one) => one.localityName,
    },
    {
      key: 'department_name',
      head: words.departmentName,
      cell: (one) => one.departmentName,
      csv: (one) => one.departmentName,
    },
    {
      key: 'phone_number',
      head: words.phoneNumber,
      cell: (one) => one.phoneNumber,
      csv: (one) => one.phoneNumber,
    },
  ];
}

const soft = (text: string | null) => text && html`<span class="soft">${text}</span>`;
/** Why numbers are annulled, beside the kind of reason: the authority's codes, or what was typed. */
const whyOf = ({ authorityCodes, typedReason }: AnnulledSpan): string | null =>
  authorityCodes.join(', ') || typedReason;

/** Numbers that will never be given. */
export function annulmentList(
  visit: Visit,
  { orm }: Pick<ConsoleDeps, 'orm'>,
  place: AtEnterprise,
  query: Query,
): List<AnnulledSpan> {
  const { enterprises: words, environments } = visit.texts;
  const em = orm.em.fork();
  const of = { rut: place.enterprise.rut, isOperator: place.standing.kind === 'operator' };
  return {
    ...at(place, query),
    label: words.annulments,
    name: 'annulments',
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
        cell: (span) => html`${words.annulReasons[span.reason]} ${soft(whyOf(span))}`,
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
      { key: 'why', head: words.why, csvOnly: true, cell: () => null, csv: whyOf },
    ],
    read: ({ after, limit }) => annulmentsOf(em, of, { after: after?.[0] ?? null, limit }),
    key: { parts: ['number'], of: ({ id }) => [id] },
    empty: words.annulmentsNone,
  };
}
