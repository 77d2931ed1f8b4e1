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

/** The CFEs of a number as printed: the CAE whose given numbers hold it says where each of them is. */
const PRINTED = `select one.id from cae place join cfe one on one.rut = place.rut and one.environment = place.environment
    and one.type = place.type and one.serie = place.series and one.numero = ?
  where ? between place.number_start and place.last_number`;
/** A key is of its account and environment: the index of keys is entered by these. */
const KEYED = `select one.id from account join cfe one on one.account_id = account.id
    and one.environment in ('production', 'sandbox') and one.idempotency_key = ?`;
const PLACED = `select one.id from cfe_sequence place join cfe one on one.rut = place.rut
    and one.environment = place.environment and one.type = place.type and one.sequence = ?
  where place.type = ? and place.last >= ?`;

/** What names a CFE: the ids of those that are meant. */
type Naming = 'text' | 'numero' | 'idempotencyKey' | 'requestId';

const CONDITIONS: {
  readonly [K in keyof Omit<CfeSearch, Naming>]-?: (value: NonNullable<CfeSearch[K]>) => Condition | null;
} = {
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
  receiver: (document) => ({ sql: `cfe.${RECEIVER} = ?`, values: [document] }),
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

/** Ids, and the CFEs of a receiver as they are to be looked for. */
type IdsOf = (seen: Seen, ofReceiver: (number: string) => Condition) => Condition;

/** The ids that the naming fields of a filter lead to, each by its own index; null where there is none of these fields. */
function namedIn({ text, numero, idempotencyKey, requestId }: CfeSearch): IdsOf | null {
  const all: IdsOf[] = [
    ...(text === undefined ? [] : [textIds(soughtIn(text))]),
    ...(numero === undefined ? [] : [(seen: Seen) => printedAs(seen, { serie: null, numero })]),
    ...(idempotencyKey === undefined ? [] : [() => ({ sql: KEYED, values: [idempotencyKey] })]),
    ...(requestId === undefined ? [] : [() => requestedAs(requestId)]),
  ];
  if (all.length === 0) return null;
  return (seen, ofReceiver) =>
    joined(
      ' intersect ',
      all.map((idsOf) => idsOf(seen, ofReceiver)),
    );
}

const requestedAs = (id: string): Condition => ({
  sql: 'select id from cfe where request_id = ?',
  values: [id],
});

/** Each thing that a text may name is looked for by its own index. */
function textIds(sought: Sought | null): IdsOf {
  if (!sought) return () => ({ sql: 'select null::uuid as id where false', values: [] });
  const { cfeId, printed, rut, words } = sought;
  const documents = [...new Set([words, ...(rut === null ? [] : [rut])])];
  return (seen, ofReceiver) =>
    joined(' union all ', [
      ...documents.map(ofReceiver),
      requestedAs(words),
      { sql: KEYED, values: [words] },
      ...(cfeId ? [placed(seen, cfeId)] : []),
      ...(printed ? [printedAs(seen, printed)] : []),
    ]);
}

function placed(seen: Seen, { type, sequence }: CfeIdParts): Condition {
  const visible = visibleTo(seen, 'place.rut');
  return { sql: `${PLACED} and ${visible.sql}`, values: [sequence, type, sequence, ...visible.values] };
}

function printedAs(seen: Seen, { serie, numero }: NonNullable<Sought['printed']>): Condition {
  const visible = visibleTo(seen, 'place.rut');
  const ofSerie = serie === null ? '' : 'and place.series = ?';
  return {
    sql: `${PRINTED} ${ofSerie} and ${visible.sql}`,
    values: [numero, numero, ...(serie === null ? [] : [serie]), ...visible.values],
  };
}

const joined = (word: string, parts: readonly Condition[]): Condition => ({
  sql: parts.map(({ sql }) => `(${sql})`).join(word),
  values: parts.flatMap(({ values }) => values),
});

/** All that must hold, but for who sees it and for what names it. */
function conditionsOf(filter: CfeSearch): Condition {
  const given = Object.entries(filter).flatMap(([name, value]) => {
    if (value === undefined || !Object.hasOwn(CONDITIONS, name)) return [];
    // The table has a row for each of these fields, of its type.
    const condition = CONDITIONS[name as keyof typeof CONDITIONS] as (value: unknown) => Condition | null;
    return condition(value) ?? [];
  });
  return given.length === 0 ? { sql: 'true', values: [] } : joined(' and ', given);
}

/** So many enterprises are looked into one by one, each for what is known of it; of more, by one question about all. */
const FEW_ENTERPRISES = 20;

/** The enterprises to look into; null where they are many. */
async function fewSeen(em: EntityManager, seen: Seen, rut: string | undefined): Promise<string[] | null> {
  if (seen === null) return rut === undefined ? null : [rut];
  const { sql, values } = visibleTo(seen, 'rut');
  const rows = await em.execute<{ rut: string }[]>(
    `select rut from enterprise where ${sql} and (?::text is null or rut = ?) limit ?`,
    [...values, rut ?? null, rut ?? null, FEW_ENTERPRISES + 1],
  );
  return rows.length > FEW_ENTERPRISES ? null : rows.map((row) => row.rut);
}

const NEWEST_FIRST = 'order by created_at desc, id desc';

/** What leads to the newest CFEs of a filter: parts that each answer their newest, `most` of them at most. */
async function partsOf(
  em: EntityManager,
  seen: Seen,
  filter: CfeSearch,
  { narrow, most }: { narrow: Condition; most: number },
): Promise<Condition[]> {
  const newest = (from: string, where: Condition): Condition => ({
    sql: `select cfe.id, cfe.created_at from ${from} where ${where.sql} and ${narrow.sql} ${NEWEST_FIRST} limit ?`,
    values: [...where.values, ...narrow.values, most],
  });
  /** Of each enterprise that is seen its newest: none of another is read. */
  const ofEach = (where: Condition): Condition => {
    const own = visibleTo(seen, 'enterprise.rut');
    const one = newest('cfe', { ...where, sql: `cfe.rut = enterprise.rut and ${where.sql}` });
    return {
      sql: `select newest.id, newest.created_at from enterprise cross join lateral (${one.sql}) newest where ${own.sql}`,
      values: [...one.values, ...own.values],
    };
  };
  const named = namedIn(filter);
  if (named) {
    const own = visibleTo(seen, 'cfe.rut');
    const ids = named(seen, (number) => {
      const { sql, values } = ofEach({ sql: `cfe.${RECEIVER} = ?`, values: [number] });
      return { sql: `select id from (${sql}) received`, values };
    });
    // The fence keeps each id a look at its row: what somebody names is little, however much they see.
    const from = `(select distinct id from (${ids.sql}) meant) named
      cross join lateral (select * from cfe where cfe.id = named.id offset 0) cfe`;
    const { sql, values } = newest(from, own);
    return [{ sql, values: [...ids.values, ...values] }];
  }
  const ruts = await fewSeen(em, seen, filter.rut);
  const environments = filter.environment ? [filter.environment] : ENVIRONMENTS;
  const inOrder = environments.map((one): Condition => ({ sql: 'cfe.environment = ?', values: [one] }));
  const conditions = isIndexed(filter) ? [{ sql: 'true', values: [] }] : inOrder;
  if (ruts)
    return ruts.flatMap((rut) =>
      conditions.map(({ sql, values }) =>
        newest('cfe', { sql: `cfe.rut = ? and ${sql}`, values: [rut, ...values] }),
      ),
    );
  if (seen !== null || filter.receiver !== undefined) return conditions.map(ofEach);
  if (isIndexed(filter)) return [newest('cfe', { sql: 'true', values: [] })];
  const types = filter.type ? [filter.type] : CFE_TYPE_NAMES;
  return types.flatMap((type) =>
    inOrder.map(({ sql, values }) =>
      newest('cfe', { sql: `cfe.type = ? and ${sql}`, values: [type, ...values] }),
    ),
  );
}

/** Conditions that few CFEs meet, with an index that leads to these, of all and of one enterprise; the others leave many. */
const isIndexed = ({ status, needsSupport, stuckReason, annulled, receiver }: CfeSearch): boolean =>
  needsSupport === true ||
  stuckReason !== undefined ||
  annulled === true ||
  receiver !== undefined ||
  (status !== undefined && status !== 'ACCEPTED');

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
  const wanted = conditionsOf(filter);
  const narrow: Condition = after
    ? {
        sql: `${wanted.sql} and (cfe.created_at, cfe.id) < ((select created_at from cfe where id = ?::uuid), ?::uuid)`,
        values: [...wanted.values, after, after],
      }
    : wanted;
  const parts = await partsOf(em, seen, filter, { narrow, most: skip + limit + 1 });
  if (parts.length === 0) return { cfes: [], next: null };
  const all = joined(' union all ', parts);
  const newest = raw(`id in (select id from (${all.sql}) newest ${NEWEST_FIRST} offset ? limit ?)`, [
    ...all.values,
    skip,
    limit + 1,
  ]);
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
    : counted(seen, filter);
  const [row] = await em.execute<{ total: number }[]>(sql, [...values]);
  return row?.total ?? 0;
}

function counted(seen: Seen, filter: CfeSearch): Condition {
  const named = namedIn(filter);
  const ofReceiver = (number: string): Condition => ({
    sql: `select id from cfe where ${RECEIVER} = ?`,
    values: [number],
  });
  const ids = named?.(seen, ofReceiver);
  const { sql, values } = joined(' and ', [
    visibleTo(seen, 'cfe.rut'),
    conditionsOf(filter),
    ...(ids ? [{ ...ids, sql: `cfe.id in (${ids.sql})` }] : []),
  ]);
  return { sql: `select count(*)::integer as total from cfe where ${sql}`, values };
}

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
