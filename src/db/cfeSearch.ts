/**
 * Looks for CFEs, of one enterprise or of all that somebody sees, newest first and page by page. It stays fast in a table of
 * millions: what few CFEs have in common is found by an index of its own; all else is walked from the newest on, along an
 * index that has this order already (docs/decisions/0040-searching-cfes.md).
 */
import { type EntityManager, raw } from '@mikro-orm/postgresql';
import { type CfeIdParts, formatCfeId } from '../domain/cfeId.ts';
import type { CfeStatus } from '../domain/cfeStatus.ts';
import { CFE_TYPE_NAMES, type CfeType, ENVIRONMENTS, type Environment } from '../domain/cfeTypes.ts';
import { addDays, startOfDay } from '../domain/montevideo.ts';
import { DAYS_AHEAD, DAYS_BACK } from '../domain/rules/general.ts';
import { type Sought, soughtIn } from '../domain/soughtCfe.ts';
import type { StuckReason } from '../domain/stuckReason.ts';
import { Cfe } from './entities/Cfe.ts';
import { type Seen, visibleTo } from './visibleTo.ts';

/** Which CFEs to look for: every condition that is given must hold. */
export interface CfeSearch {
  /** What somebody typed: whatever it may name (`soughtIn`). */
  readonly text?: string | undefined;
  readonly environment?: Environment | undefined;
  readonly rut?: string | undefined;
  readonly type?: CfeType | undefined;
  readonly status?: CfeStatus | undefined;
  readonly needsSupport?: boolean | undefined;
  readonly stuckReason?: StuckReason | undefined;
  /** Whether its number is annulled. */
  readonly annulled?: boolean | undefined;
  readonly serie?: string | undefined;
  readonly numero?: number | undefined;
  /** The number of the receiver's document. */
  readonly receiver?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly requestId?: string | undefined;
  /** Days of emission, both included. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** When it was taken: from that moment on, and before this one. */
  readonly createdFrom?: Date | undefined;
  readonly createdBefore?: Date | undefined;
}

/** Which part of what is found. */
export interface CfePage {
  /** UUID of the CFE with which the page before ended: the `next` of its answer. */
  readonly after?: string | null | undefined;
  readonly skip?: number | undefined;
  readonly limit: number;
}

export interface FoundCfes {
  /** The newest first. */
  readonly cfes: Cfe[];
  /** UUID of the last one here; null where nothing follows. */
  readonly next: string | null;
}

interface Condition {
  readonly sql: string;
  readonly values: readonly unknown[];
}

const RECEIVER = `document #>> '{receiver,document,number}'`;
const UNDECIDED: readonly CfeStatus[] = ['PENDING', 'RECEIVED'];

/** The CFEs of a number as printed: the CAE whose range holds it says where each of them is. */
const PRINTED = `select one.id from cae join cfe one on one.rut = cae.rut and one.environment = cae.environment
    and one.type = cae.type and one.serie = cae.series and one.numero = ?
  where ? between cae.number_start and cae.number_end`;
/** A key is of its account and environment: the index of keys is entered by these. */
const KEYED = `select one.id from account join cfe one on one.account_id = account.id
    and one.environment in ('production', 'sandbox') and one.idempotency_key = ?`;
const PLACED = `select one.id from cfe_sequence place join cfe one on one.rut = place.rut
    and one.environment = place.environment and one.type = place.type and one.sequence = ?
  where place.type = ? and place.last >= ?`;

const among = (sql: string, ...values: unknown[]): Condition => ({ sql: `cfe.id in (${sql})`, values });

const CONDITIONS: {
  readonly [K in keyof CfeSearch]-?: (value: NonNullable<CfeSearch[K]>) => Condition | null;
} = {
  text: (text) => textCondition(soughtIn(text)),
  environment: (environment) => ({ sql: 'cfe.environment = ?', values: [environment] }),
  rut: (rut) => ({ sql: 'cfe.rut = ?', values: [rut] }),
  type: (type) => ({ sql: 'cfe.type = ?', values: [type] }),
  // Those without a verdict are few, and have an index of their own.
  status: (status) => ({
    sql: `cfe.status = ?${UNDECIDED.includes(status) ? ' and cfe.settled_at is null' : ''}`,
    values: [status],
  }),
  needsSupport: (needs) => (needs ? { sql: 'cfe.stuck_reason is not null', values: [] } : null),
  stuckReason: (reason) => ({ sql: 'cfe.stuck_reason = ?', values: [reason] }),
  annulled: (annulled) => (annulled ? { sql: ANNULLED, values: [] } : null),
  serie: (serie) => ({ sql: 'cfe.serie = ?', values: [serie] }),
  numero: (numero) => among(PRINTED, numero, numero),
  receiver: (document) => ({ sql: `cfe.${RECEIVER} = ?`, values: [document] }),
  idempotencyKey: (key) => among(KEYED, key),
  requestId: (id) => ({ sql: 'cfe.request_id = ?', values: [id] }),
  // A CFE is taken near its date of emission: what was taken long before or after need not be walked.
  from: (day) => ({
    sql: 'cfe.emission_date >= ?::date and cfe.created_at >= ?::timestamptz',
    values: [day, startOfDay(addDays(day, -DAYS_AHEAD)).toISOString()],
  }),
  to: (day) => ({
    sql: 'cfe.emission_date <= ?::date and cfe.created_at < ?::timestamptz',
    values: [day, startOfDay(addDays(day, DAYS_BACK + 1)).toISOString()],
  }),
  createdFrom: (at) => ({ sql: 'cfe.created_at >= ?::timestamptz', values: [at.toISOString()] }),
  createdBefore: (at) => ({ sql: 'cfe.created_at < ?::timestamptz', values: [at.toISOString()] }),
};

const ANNULLED = `cfe.status = 'REJECTED' and exists (select from annulment where annulment.cfe_id = cfe.id)`;

/** Conditions that few CFEs meet, each with an index that leads to these; the others leave many. */
const isNarrow = ({ status, ...filter }: CfeSearch): boolean =>
  filter.text !== undefined ||
  filter.needsSupport === true ||
  filter.stuckReason !== undefined ||
  filter.annulled === true ||
  filter.numero !== undefined ||
  filter.receiver !== undefined ||
  filter.idempotencyKey !== undefined ||
  filter.requestId !== undefined ||
  (status !== undefined && status !== 'ACCEPTED');

/** Each thing that a text may name is looked for by its own index. */
function textCondition(sought: Sought | null): Condition {
  if (!sought) return { sql: 'false', values: [] };
  const { cfeId, printed, rut, words } = sought;
  const documents = [...new Set([words, ...(rut === null ? [] : [rut])])];
  const parts: Condition[] = [
    ...documents.map((number) => ({ sql: `select id from cfe where ${RECEIVER} = ?`, values: [number] })),
    { sql: 'select id from cfe where request_id = ?', values: [words] },
    { sql: KEYED, values: [words] },
    ...(cfeId ? [placed(cfeId)] : []),
    ...(printed ? [printedAs(printed)] : []),
  ];
  return among(
    parts.map(({ sql }) => `(${sql})`).join(' union all '),
    ...parts.flatMap(({ values }) => values),
  );
}

const placed = ({ type, sequence }: CfeIdParts): Condition => ({
  sql: PLACED,
  values: [sequence, type, sequence],
});

const printedAs = ({ serie, numero }: NonNullable<Sought['printed']>): Condition =>
  serie === null
    ? { sql: PRINTED, values: [numero, numero] }
    : { sql: `${PRINTED} and cae.series = ?`, values: [numero, numero, serie] };

/** All that must hold, and that somebody sees it. */
function conditionsOf(seen: Seen, filter: CfeSearch): Condition {
  const given = Object.entries(filter).flatMap(([name, value]) => {
    if (value === undefined) return [];
    // The table has a row for each field of the filter, of its type.
    const condition = CONDITIONS[name as keyof CfeSearch] as (value: unknown) => Condition | null;
    return condition(value) ?? [];
  });
  const parts = [visibleTo(seen, 'cfe.rut'), ...given];
  return {
    sql: parts.map(({ sql }) => `(${sql})`).join(' and '),
    values: parts.flatMap(({ values }) => values),
  };
}

/** A part of the table that an index holds in the order of the list. */
type Branch = readonly [column: 'rut' | 'type', value: string, environment: Environment];

/** So many enterprises are walked one by one; more are as good as all. */
const FEW_ENTERPRISES = 20;

/** The parts whose newest make up the newest of all. */
async function branchesOf(em: EntityManager, seen: Seen, filter: CfeSearch): Promise<Branch[]> {
  const environments = filter.environment ? [filter.environment] : ENVIRONMENTS;
  const ruts = filter.rut === undefined ? await fewSeen(em, seen) : [filter.rut];
  const types = filter.type ? [filter.type] : CFE_TYPE_NAMES;
  const values = ruts ?? types;
  return environments.flatMap((environment) =>
    values.map((value): Branch => [ruts ? 'rut' : 'type', value, environment]),
  );
}

/** The enterprises that somebody sees; null where they are many. */
async function fewSeen(em: EntityManager, seen: Seen): Promise<string[] | null> {
  if (seen === null) return null;
  const { sql, values } = visibleTo(seen, 'rut');
  const rows = await em.execute<{ rut: string }[]>(`select rut from enterprise where ${sql} limit ?`, [
    ...values,
    FEW_ENTERPRISES + 1,
  ]);
  return rows.length > FEW_ENTERPRISES ? null : rows.map(({ rut }) => rut);
}

const NEWEST_FIRST = 'order by created_at desc, id desc';

/**
 * A page of the CFEs that the filter lets through, of all that somebody sees, newest first. CFEs that are issued meanwhile are
 * newer: whoever goes on with `next` gets each of the others once.
 */
export async function searchCfes(
  em: EntityManager,
  seen: Seen,
  filter: CfeSearch,
  { after, skip = 0, limit }: CfePage,
): Promise<FoundCfes> {
  const wanted = conditionsOf(seen, filter);
  const behind: Condition = after
    ? {
        sql: '(cfe.created_at, cfe.id) < ((select created_at from cfe where id = ?::uuid), ?::uuid)',
        values: [after, after],
      }
    : { sql: 'true', values: [] };
  const most = skip + limit + 1;
  const newestOf = (part: Condition): Condition => ({
    sql: `select cfe.id, cfe.created_at from cfe where ${part.sql} and ${wanted.sql} and ${behind.sql}
      ${NEWEST_FIRST} limit ?`,
    values: [...part.values, ...wanted.values, ...behind.values, most],
  });
  const branches = isNarrow(filter) ? [] : await branchesOf(em, seen, filter);
  const parts = isNarrow(filter)
    ? [newestOf({ sql: 'true', values: [] })]
    : branches.map(([column, value, environment]) =>
        newestOf({ sql: `cfe.${column} = ? and cfe.environment = ?`, values: [value, environment] }),
      );
  if (parts.length === 0) return { cfes: [], next: null };
  const newest = raw(
    `id in (select id from (${parts.map(({ sql }) => `(${sql})`).join(' union all ')}) newest
       ${NEWEST_FIRST} offset ? limit ?)`,
    [...parts.flatMap(({ values }) => values), skip, limit + 1],
  );
  const found = await em.find(Cfe, { [newest]: [] }, { orderBy: { createdAt: 'desc', id: 'desc' } });
  const cfes = found.slice(0, limit);
  return { cfes, next: found.length > limit ? (cfes.at(-1)?.id ?? null) : null };
}

/**
 * How many CFEs the filter lets through, of all that somebody sees. Of one enterprise and environment, without further
 * conditions but its type, this is what the sequences have come to: it costs the same for ten as for ten million.
 */
export async function countCfes(em: EntityManager, seen: Seen, filter: CfeSearch): Promise<number> {
  const { rut, environment, type, ...more } = filter;
  const isPlain =
    rut !== undefined && environment !== undefined && Object.values(more).every((one) => one === undefined);
  const { sql, values } = isPlain
    ? {
        sql: `select coalesce(sum(last - skipped), 0)::integer as total from cfe_sequence cfe where cfe.rut = ? and
          cfe.environment = ? and (?::text is null or cfe.type = ?) and ${visibleTo(seen, 'cfe.rut').sql}`,
        values: [rut, environment, type ?? null, type ?? null, ...visibleTo(seen, 'cfe.rut').values],
      }
    : counted(conditionsOf(seen, filter));
  const [row] = await em.execute<{ total: number }[]>(sql, [...values]);
  return row?.total ?? 0;
}

const counted = ({ sql, values }: Condition): Condition => ({
  sql: `select count(*)::integer as total from cfe where ${sql}`,
  values,
});

/** What a text leads to. */
export type Found =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'enterprise'; readonly rut: string }
  | { readonly kind: 'cfe'; readonly rut: string; readonly environment: Environment; readonly cfeId: string }
  /** `searchCfes` with the text has them. */
  | { readonly kind: 'several' };

/**
 * What somebody means by a text, among all that they see: an enterprise by its RUT; one CFE, by cfe_id, serie and number as
 * printed, request id, Idempotency-Key, or its receiver's document; or several of them.
 */
export async function findCfes(em: EntityManager, seen: Seen, text: string): Promise<Found> {
  const sought = soughtIn(text);
  if (!sought) return { kind: 'nothing' };
  if (sought.rut !== null) {
    const { sql, values } = visibleTo(seen, 'rut');
    const [row] = await em.execute<unknown[]>(`select rut from enterprise where rut = ? and ${sql}`, [
      sought.rut,
      ...values,
    ]);
    if (row) return { kind: 'enterprise', rut: sought.rut };
  }
  const { cfes, next } = await searchCfes(em, seen, { text }, { limit: 1 });
  const [cfe] = cfes;
  if (!cfe) return { kind: 'nothing' };
  if (next) return { kind: 'several' };
  return { kind: 'cfe', rut: cfe.rut, environment: cfe.environment, cfeId: formatCfeId(cfe) };
}
