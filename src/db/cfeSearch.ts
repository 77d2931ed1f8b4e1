/**
 * Looks for CFEs, of one enterprise or of all that somebody sees, newest first and page by page. It stays fast in a table of
 * millions: what few CFEs have in common is found by an index of its own; all else is walked from the newest on, along an
 * index that has this order already (docs/decisions/console.md#searching-cfes).
 */
import type { EntityDictionary, EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { type CfeIdParts, formatCfeId } from '../domain/cfeId.ts';
import type { CfeStatus } from '../domain/cfeStatus.ts';
import { CFE_TYPE_NAMES, type CfeType, ENVIRONMENTS, type Environment } from '../domain/cfeTypes.ts';
import { addDays, startOfDay } from '../domain/montevideo.ts';
import { DAYS_AHEAD, DAYS_BACK } from '../domain/rules/general.ts';
import { type Sought, soughtIn } from '../domain/soughtCfe.ts';
import type { StuckReason } from '../domain/stuckReason.ts';
import { Cfe } from './entities/receipts.ts';
import { type Seen, visibleTo } from './roles.ts';
import { conditionBuilder, type Fragment, joinSql, runSql, whereAll } from './sql.ts';

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

const cfe = conditionBuilder<'cfe'>();
const RECEIVER = sql`cfe.document #>> '{receiver,document,number}'`;

/** Conditions that all must hold, but for who sees it and for what names it. */
function conditionsOf(filter: CfeSearch): Fragment {
  const { status, from, to, createdFrom, createdBefore } = filter;
  return whereAll(
    cfe.and({
      'cfe.environment': filter.environment,
      'cfe.rut': filter.rut,
      'cfe.type': filter.type,
      'cfe.status': status,
      'cfe.stuck_reason': filter.stuckReason,
      'cfe.serie': filter.serie,
    }),
    // Those without a verdict are few, and have an index of their own.
    (status === 'PENDING' || status === 'RECEIVED') && sql`cfe.settled_at is null`,
    filter.needsSupport && sql`cfe.stuck_reason is not null`,
    filter.annulled &&
      sql`cfe.status = 'REJECTED' and exists (select from annulment where annulment.cfe_uuid = cfe.id)`,
    filter.receiver !== undefined && sql`${RECEIVER} = ${filter.receiver}`,
    // A CFE is taken near its date of emission: what was taken long before or after need not be walked.
    from !== undefined && cfe('cfe.emission_date', '>=', from),
    from !== undefined && cfe('cfe.created_at', '>=', startOfDay(addDays(from, -DAYS_AHEAD))),
    to !== undefined && cfe('cfe.emission_date', '<=', to),
    to !== undefined && cfe('cfe.created_at', '<', startOfDay(addDays(to, DAYS_BACK + 1))),
    createdFrom && cfe('cfe.created_at', '>=', createdFrom),
    createdBefore && cfe('cfe.created_at', '<', createdBefore),
  );
}

/**
 * The ids that the naming fields of a filter lead to, each by its own index; null where there is none of these fields.
 * `ofReceiver`: the ids of the CFEs of a receiver.
 */
function namedIn(
  seen: Seen,
  { text, numero, idempotencyKey, requestId }: CfeSearch,
  ofReceiver: (number: string) => Fragment,
): Fragment | null {
  const ids = [
    text !== undefined && textIds(seen, soughtIn(text), ofReceiver),
    numero !== undefined && printedAs(seen, { serie: null, numero }),
    idempotencyKey !== undefined && keyed(idempotencyKey),
    requestId !== undefined && requestedAs(requestId),
  ].filter((one) => one !== false);
  return ids.length === 0 ? null : joinSql('intersect', ids);
}

/** Each thing that a text may name is looked for by its own index. */
function textIds(seen: Seen, sought: Sought | null, ofReceiver: (number: string) => Fragment): Fragment {
  if (!sought) return sql`select null::uuid as id where false`;
  const { cfeId, printed, rut, words } = sought;
  const documents = [...new Set([words, ...(rut === null ? [] : [rut])])];
  const ids = [
    ...documents.map(ofReceiver),
    requestedAs(words),
    keyed(words),
    ...(cfeId ? [placed(seen, cfeId)] : []),
    ...(printed ? [printedAs(seen, printed)] : []),
  ];
  return joinSql('union all', ids);
}

const requestedAs = (id: string): Fragment => sql`select id from cfe where request_id = ${id}`;

/** A key is of its account and environment: the index of keys is entered by these. */
const keyed = (key: string): Fragment => sql`
  select one.id from account join cfe one on one.account_id = account.id
    and one.environment in ('production', 'sandbox') and one.idempotency_key = ${key}`;

const placed = (seen: Seen, { type, sequence }: CfeIdParts): Fragment => sql`
  select one.id from cfe_sequence place join cfe one on one.rut = place.rut
    and one.environment = place.environment and one.type = place.type and one.sequence = ${sequence}
  where place.type = ${type} and place.last >= ${sequence} and ${visibleTo(seen, 'place.rut')}`;

/** The CFEs of a number as printed: the CAE whose given numbers hold it says where each of them is. */
const printedAs = (seen: Seen, { serie, numero }: NonNullable<Sought['printed']>): Fragment => sql`
  select one.id from cae place join cfe one on one.rut = place.rut and one.environment = place.environment
    and one.type = place.type and one.serie = place.serie and one.numero = ${numero}
  where ${numero} between place.number_start and place.last_number
    and ${whereAll(serie !== null && sql`place.serie = ${serie}`)} and ${visibleTo(seen, 'place.rut')}`;

/** So many enterprises are looked into one by one, each for what is known of it; of more, by one question about all. */
const FEW_ENTERPRISES = 20;

/** The enterprises to look into; null where they are many. */
async function fewSeen(em: EntityManager, seen: Seen, rut: string | undefined): Promise<string[] | null> {
  if (seen === null) return rut === undefined ? null : [rut];
  const wanted = whereAll(visibleTo(seen, 'rut'), rut !== undefined && sql`rut = ${rut}`);
  const rows = await runSql(em)<{ rut: string }>`
    select rut from enterprise where ${wanted} limit ${FEW_ENTERPRISES + 1}`;
  return rows.length > FEW_ENTERPRISES ? null : rows.map((row) => row.rut);
}

const NEWEST_FIRST = sql`order by created_at desc, id desc`;

/** What leads to the newest CFEs of a filter: parts that each answer their newest, `most` of them at most. */
async function partsOf(
  em: EntityManager,
  seen: Seen,
  filter: CfeSearch,
  { narrow, most }: { narrow: Fragment; most: number },
): Promise<Fragment[]> {
  const newest = (where: Fragment, from: Fragment = sql`cfe`): Fragment =>
    sql`select cfe.id, cfe.created_at from ${from} where ${where} and ${narrow} ${NEWEST_FIRST} limit ${most}`;
  /** Of each enterprise that is seen its newest: none of another is read. */
  const ofEach = (where: Fragment): Fragment => sql`
    select newest.id, newest.created_at
    from enterprise cross join lateral (${newest(whereAll(sql`cfe.rut = enterprise.rut`, where))}) newest
    where ${visibleTo(seen, 'enterprise.rut')}`;
  const named = namedIn(
    seen,
    filter,
    (number) => sql`select id from (${ofEach(sql`${RECEIVER} = ${number}`)}) received`,
  );
  if (named) {
    // The fence keeps each id a look at its row: what somebody names is little, however much they see.
    const from = sql`(select distinct id from (${named}) meant) named
      cross join lateral (select * from cfe where cfe.id = named.id offset 0) cfe`;
    return [newest(visibleTo(seen, 'cfe.rut'), from)];
  }
  const ruts = await fewSeen(em, seen, filter.rut);
  const environments = filter.environment ? [filter.environment] : ENVIRONMENTS;
  const inOrder = environments.map((environment) => cfe.and({ 'cfe.environment': environment }));
  const conditions = isIndexed(filter) ? [sql`true`] : inOrder;
  if (ruts)
    return ruts.flatMap((rut) => conditions.map((one) => newest(whereAll(cfe.and({ 'cfe.rut': rut }), one))));
  if (seen !== null || filter.receiver !== undefined) return conditions.map(ofEach);
  if (isIndexed(filter)) return [newest(sql`true`)];
  const types = filter.type ? [filter.type] : CFE_TYPE_NAMES;
  return types.flatMap((type) => inOrder.map((one) => newest(whereAll(cfe.and({ 'cfe.type': type }), one))));
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
  const narrow = whereAll(
    conditionsOf(filter),
    Boolean(after) &&
      sql`(cfe.created_at, cfe.id) < ((select created_at from cfe where id = ${after}), ${after}::uuid)`,
  );
  const parts = await partsOf(em, seen, filter, { narrow, most: skip + limit + 1 });
  if (parts.length === 0) return { cfes: [], next: null };
  const columns = em.getMetadata(Cfe).props.filter(({ lazy }) => !lazy);
  const rows = await runSql(em)<EntityDictionary<Cfe>>`
    select ${sql.join(columns.flatMap(({ fieldNames }) => fieldNames.map((name) => sql.ref(name))))} from cfe
    where id in (select id from (${joinSql('union all', parts)}) newest ${NEWEST_FIRST} offset ${skip} limit ${limit + 1})
    ${NEWEST_FIRST}`;
  const cfes = rows.slice(0, limit).map((row) => em.map(Cfe, row));
  return { cfes, next: rows.length > limit ? (cfes.at(-1)?.id ?? null) : null };
}

/**
 * How many CFEs the filter lets through, of all that somebody sees. Of one enterprise and environment, without further
 * conditions but its type, this is what the sequences have come to: it costs the same for ten as for ten million.
 */
export async function countCfes(em: EntityManager, seen: Seen, filter: CfeSearch): Promise<number> {
  const { rut, environment, type: _type, ...more } = filter;
  const isPlain =
    rut !== undefined && environment !== undefined && Object.values(more).every((one) => one === undefined);
  const named = namedIn(seen, filter, (number) => sql`select id from cfe where ${RECEIVER} = ${number}`);
  const wanted = whereAll(
    visibleTo(seen, 'cfe.rut'),
    conditionsOf(filter),
    named && sql`cfe.id in (${named})`,
  );
  const [row] = await runSql(em)<{ total: number }>`select ${
    isPlain
      ? sql`coalesce(sum(last - skipped), 0)::integer as total from cfe_sequence cfe`
      : sql`count(*)::integer as total from cfe`
  } where ${wanted}`;
  return row?.total ?? 0;
}

/** What a text leads to. */
export type SearchTarget =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'enterprise'; readonly rut: string }
  | { readonly kind: 'cfe'; readonly rut: string; readonly environment: Environment; readonly cfeId: string }
  /** `searchCfes` with the text has them. */
  | { readonly kind: 'several' };

/**
 * What somebody means by a text, among all that they see: an enterprise by its RUT; one CFE, by cfe_id, serie and number as
 * printed, request id, Idempotency-Key, or its receiver's document; or several of them.
 */
export async function resolveSearchText(em: EntityManager, seen: Seen, text: string): Promise<SearchTarget> {
  const sought = soughtIn(text);
  if (!sought) return { kind: 'nothing' };
  if (sought.rut !== null) {
    const rows = await runSql(em)`
      select rut from enterprise where rut = ${sought.rut} and ${visibleTo(seen, 'rut')}`;
    if (rows.length > 0) return { kind: 'enterprise', rut: sought.rut };
  }
  const { cfes, next } = await searchCfes(em, seen, { text }, { limit: 1 });
  const [one] = cfes;
  if (!one) return { kind: 'nothing' };
  if (next) return { kind: 'several' };
  return { kind: 'cfe', rut: one.rut, environment: one.environment, cfeId: formatCfeId(one) };
}
