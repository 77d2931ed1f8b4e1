import { BY_SERIAL } from '../../../db/page.ts';
/** Lists of an enterprise's page. */

import { findBranches } from '../../../db/enterprises/enterprises.ts';
import { type AnnulledSpan, type CaeRow, listAnnulments } from '../../../db/numbers/numbers.ts';
import { daysLeft, type LowNumbers } from '../../../domain/enterprises/warnings.ts';
import { CFE_TYPES, type CfeType } from '../../../domain/receipts/cfeTypes.ts';
import { html } from '../../../page/html.ts';
import { type AtEnterprise, enterprisePath } from '../../access/atEnterprise.ts';
import { mayAt } from '../../access/permissions.ts';
import { age, dateOf, figure, timeOf } from '../../format.ts';
import { type Column, column, figureColumn, fileColumn, inMemory, type List } from '../../lists.ts';
import type { ConsoleDeps, Visit } from '../../page.ts';
import { badge, wholeWords } from '../../parts.ts';
import { branchForm, branchForms } from './enterpriseForms.ts';
import { renderExpiry } from './enterprises.ts';

type Query = Readonly<Record<string, string | undefined>>;

const listAddress = ({ enterprise: { rut } }: AtEnterprise, query: Query) =>
  ({ path: enterprisePath(rut), query, isPart: true }) as const;

/** Returns the list of CAEs for production, by expiry date. */
export function caeList(
  visit: Visit,
  page: AtEnterprise,
  numbers: {
    readonly today: string;
    readonly caes: readonly CaeRow[];
    readonly used: ReadonlyMap<CfeType, number>;
    readonly low: readonly LowNumbers[];
  },
  query: Query,
): List<CaeRow> {
  const { enterprises: words } = visit.texts;
  const rows = numbers.caes.toSorted(compareExpiry);
  return {
    ...listAddress(page, query),
    label: words.caes,
    name: 'caes',
    columns: [...rangeColumns(visit), ...lastingColumns(visit, numbers)],
    ...inMemory(async () => rows, 'id'),
    empty: words.caesNone,
  };
}

const compareExpiry = (a: CaeRow, b: CaeRow): number => (a.expirationDate < b.expirationDate ? -1 : 1);

function rangeColumns({ texts: { enterprises: words, never } }: Visit): Column<CaeRow>[] {
  return [
    column('cfe_type', words.type, 'type', ({ type }) => wholeWords(CFE_TYPES[type].label)),
    column('serie', words.serie, 'serie'),
    figureColumn('number_start', words.range, 'numberStart', (cae) => `${cae.numberStart}–${cae.numberEnd}`),
    fileColumn('number_end', words.range, 'numberEnd'),
    figureColumn(
      'last_number',
      words.last,
      (cae) => (isUnused(cae) ? null : cae.lastNumber),
      (cae) => (isUnused(cae) ? never : String(cae.lastNumber)),
    ),
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
    figureColumn('numbers_left', words.left, 'numbersLeft', ({ type, numbersLeft }) => {
      const left = figure(numbersLeft, texts);
      return isLow(type) ? badge(left, numbersLeft === 0 ? 'bad' : 'wait') : left;
    }),
    figureColumn('days_left', words.lasts, lasts, (cae) => {
      const days = lasts(cae);
      if (days === null) return texts.never;
      return days > 365 ? words.lastsLong : age(days * 86_400_000, texts);
    }),
    column('expiration_date', words.ends, 'expirationDate', (cae) =>
      renderExpiry(texts, cae.expirationDate, today),
    ),
    column(
      'authorization_number',
      words.authorization,
      'authorizationNumber',
      (cae) => html`<code>${cae.authorizationNumber}</code>`,
    ),
  ];
}

/** A branch, or the enterprise's main one. */
export interface ListedBranch {
  readonly branch: number;
  readonly streetName: string;
  readonly localityName: string;
  readonly departmentName: string;
  readonly phoneNumber: string | null;
  readonly closedAt: Date | null;
  readonly isOwn: boolean;
}

/** Returns the list of branches, the enterprise's main one first. */
export async function branchList(
  visit: Visit,
  { orm }: Pick<ConsoleDeps, 'orm'>,
  page: AtEnterprise,
  query: Query,
): Promise<List<ListedBranch>> {
  const { enterprises: words } = visit.texts;
  const { enterprise, access } = page;
  const others = await findBranches(orm.em.fork(), enterprise.rut);
  const rows = [
    { ...factsOf(enterprise), closedAt: null, isOwn: true },
    ...others.map((one) => ({ ...factsOf(one), closedAt: one.closedAt, isOwn: false })),
  ];
  const acts: Column<ListedBranch> = column(
    'closed_at',
    words.acting,
    'closedAt',
    (one) => one.closedAt === null && branchForms(visit, enterprise.rut, one),
  );
  return {
    ...listAddress(page, query),
    label: words.branches,
    name: 'branches',
    columns: [
      ...branchColumns(visit),
      mayAt(access, branchForm.route) ? acts : { ...acts, csvOnly: true, cell: () => null },
    ],
    ...inMemory(async () => rows, 'branch'),
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
    column(
      'branch',
      words.branch,
      'branch',
      ({ branch, isOwn, closedAt }) =>
        html`${branch}
        ${isOwn && html`<span class="soft">${words.ownBranch}</span>`}${closedAt && badge(words.closed, 'calm')}`,
    ),
    column('street_name', words.streetName, 'streetName'),
    column('locality_name', words.localityName, 'localityName'),
    column('department_name', words.departmentName, 'departmentName'),
    column('phone_number', words.phoneNumber, 'phoneNumber'),
  ];
}

const soft = (text: string | null) => text && html`<span class="soft">${text}</span>`;
/** Describes the details of an annulment: the authority's codes, or the typed reason. */
const describeReason = ({ authorityCodes, typedReason }: AnnulledSpan): string | null =>
  authorityCodes.join(', ') || typedReason;

/** Returns the list of annulled numbers. */
export function annulmentList(
  visit: Visit,
  { orm }: Pick<ConsoleDeps, 'orm'>,
  page: AtEnterprise,
  query: Query,
): List<AnnulledSpan> {
  const { enterprises: words, environments } = visit.texts;
  const em = orm.em.fork();
  const of = { rut: page.enterprise.rut, isOperator: page.access.kind === 'operator' };
  return {
    ...listAddress(page, query),
    label: words.annulments,
    name: 'annulments',
    columns: [
      column('cfe_type', words.type, 'type', ({ type }) => CFE_TYPES[type].label),
      column('serie', words.serie, 'serie'),
      figureColumn('from', words.fromNumber, 'from'),
      figureColumn('to', words.toNumber, 'to'),
      column(
        'reason',
        words.reason,
        'reason',
        (span) => html`${words.annulReasons[span.reason]} ${soft(describeReason(span))}`,
      ),
      column('report_date', words.reportDay, 'reportDate', ({ reportDate }) => dateOf(reportDate)),
      column('annulled_at', words.annulledAt, 'annulledAt', ({ annulledAt }) => timeOf(annulledAt)),
      column('environment', words.environment, 'environment', ({ environment }) => environments[environment]),
      fileColumn('why', words.why, describeReason),
    ],
    read: (page) => listAnnulments(em, of, page),
    key: BY_SERIAL,
    empty: words.annulmentsNone,
  };
}
