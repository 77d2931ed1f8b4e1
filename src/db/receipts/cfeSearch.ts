/**
 * Searches CFEs, of one enterprise or of all visible ones, newest first, page by page. Fast in a table of millions:
 * selective conditions use their own index; everything else walks an index that has this order already
 * (docs/decisions/console.md#searching-cfes).
 */

import type { EntityDictionary, EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import type { StuckReason } from '../../domain/authority/stuckReason.ts';
import { type ParsedSearch, parseSearch } from '../../domain/operations/parseSearch.ts';
import { type CfeIdParts, formatCfeId } from '../../domain/receipts/cfeId.ts';
import type { CfeStatus } from '../../domain/receipts/cfeStatus.ts';
import {
  CFE_TYPE_NAMES,
  type CfeType,
  ENVIRONMENTS,
  type Environment,
} from '../../domain/receipts/cfeTypes.ts';
import { soughtNumbers } from '../../domain/receipts/receiverDocument.ts';
import { DAYS_AHEAD, DAYS_BACK } from '../../domain/receipts/rules/general.ts';
import { addDays, startOfDay } from '../../domain/values/montevideo.ts';
import { Cfe } from '../entities/receipts.ts';
import { type ViewerAccounts, visibleAmong, visibleTo } from '../people/roles.ts';
import { conditionBuilder, type Fragment, joinSql, runSql, whereAll } from '../sql.ts';

/** Selects CFEs; all given conditions must hold. */
export interface CfeSearch {
  /** Free text: anything that `parseSearch` recognises. */
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
  readonly externalId?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly requestId?: string | undefined;
  /** Dates of emission, both included. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** Creation time: from the first, before the second. */
  readonly createdFrom?: Date | undefined;
  readonly createdBefore?: Date | undefined;
}

/** A page of the result. */
export interface CfePage {
  /** UUID of the last CFE of the previous page: the `next` of its result. */
  readonly after?: string | null | undefined;
  readonly skip?: number | undefined;
  readonly limit: number;
}

export interface FoundCfes {
  /** Newest first. */
  readonly cfes: Cfe[];
  /** UUID of the last CFE of this page; null on the last page. */
  readonly next: string | null;
}

const cfe = conditionBuilder<'cfe'>();
const RECEIVER = sql`cfe.document #>> '{receiver,document,number}'`;

/** Returns the conditions of a filter without visibility and without its text. */
function filterCondition(accounts: ViewerAccounts, filter: CfeSearch): Fragment {
  const { status, from, to, createdFrom, createdBefore, numero, idempotencyKey } = filter;
  return whereAll(
    cfe.and({
      'cfe.environment': filter.environment,
      'cfe.rut': filter.rut,
      'cfe.type': filter.type,
      'cfe.status': status,
      'cfe.stuck_reason': filter.stuckReason,
      'cfe.serie': filter.serie,
      'cfe.external_id': filter.externalId,
      'cfe.request_id': filter.requestId,
    }),
    numero !== undefined && sql`cfe.id in (${selectByPrintedNumber(accounts, { serie: null, numero })})`,
    idempotencyKey !== undefined && sql`cfe.id in (${selectByIdempotencyKey(idempotencyKey)})`,
    // CFEs without a verdict are few, and have their own index: an operator's 4 ms; without this, more than 1 s.
    (status === 'PENDING' || status === 'RECEIVED') && sql`cfe.settled_at is null`,
    filter.needsSupport && sql`cfe.stuck_reason is not null`,
    filter.annulled &&
      sql`cfe.status = 'REJECTED' and exists (select from annulment where annulment.cfe_uuid = cfe.id)`,
    filter.receiver !== undefined && sql`${RECEIVER} = any (${soughtNumbers(filter.receiver)})`,
    // A CFE is created near its date of emission: an old month of a large enterprise 50 ms; without, more than 1 s.
    from !== undefined && cfe('cfe.emission_date', '>=', from),
    from !== undefined && cfe('cfe.created_at', '>=', startOfDay(addDays(from, -DAYS_AHEAD))),
    to !== undefined && cfe('cfe.emission_date', '<=', to),
    to !== undefined && cfe('cfe.created_at', '<', startOfDay(addDays(to, DAYS_BACK + 1))),
    createdFrom && cfe('cfe.created_at', '>=', createdFrom),
    createdBefore && cfe('cfe.created_at', '<', createdBefore),
  );
}

/**
 * Selects the ids for every possible meaning of a text, each through its own index. `having`: selects the ids of the
 * CFEs that meet a condition with an index.
 */
function selectIdsOfText(
  accounts: ViewerAccounts,
  parsed: ParsedSearch | null,
  having: (condition: Fragment) => Fragment,
): Fragment {
  if (!parsed) return sql`select null::uuid as id where false`;
  const { cfeId, printed, rut, words } = parsed;
  const documents = [...new Set([words, ...(rut === null ? [] : [rut])])];
  const ids = [
    ...documents.map((number) => having(sql`${RECEIVER} = ${number}`)),
    having(sql`cfe.external_id = ${words}`),
    selectByRequestId(words),
    selectByIdempotencyKey(words),
    ...(cfeId ? [selectByCfeId(accounts, cfeId)] : []),
    ...(printed ? [selectByPrintedNumber(accounts, printed)] : []),
  ];
  return joinSql('union all', ids);
}

const selectByRequestId = (id: string): Fragment => sql`select id from cfe where request_id = ${id}`;

/** The index of keys begins with account and environment. */
const selectByIdempotencyKey = (key: string): Fragment => sql`
  select one.id from account join cfe one on one.account_id = account.id
    and one.environment in ('production', 'sandbox') and one.idempotency_key = ${key}`;

const selectByCfeId = (accounts: ViewerAccounts, { type, sequence }: CfeIdParts): Fragment => sql`
  select one.id from cfe_sequence place join cfe one on one.rut = place.rut
    and one.environment = place.environment and one.type = place.type and one.sequence = ${sequence}
  where place.type = ${type} and place.last >= ${sequence} and ${visibleTo(accounts, 'place.rut')}`;

/** Selects CFEs by their printed number: the CAE with this number leads to their index. */
const selectByPrintedNumber = (
  accounts: ViewerAccounts,
  { serie, numero }: NonNullable<ParsedSearch['printed']>,
): Fragment => sql`
  select one.id from cae place join cfe one on one.rut = place.rut and one.environment = place.environment
    and one.type = place.type and one.serie = place.serie and one.numero = ${numero}
  where ${numero} between place.number_start and place.last_number
    and ${whereAll(serie !== null && sql`place.serie = ${serie}`)} and ${visibleTo(accounts, 'place.rut')}`;

/** Up to this many enterprises are searched one by one; more are searched together. */
const FEW_ENTERPRISES = 20;

/** Returns the enterprises to search one by one; null if there are too many. */
async function findFewEnterprises(
  em: EntityManager,
  accounts: ViewerAccounts,
  rut: string | undefined,
): Promise<string[] | null> {
  if (accounts === null) return rut === undefined ? null : [rut];
  const condition = whereAll(visibleTo(accounts, 'rut'), rut !== undefined && sql`rut = ${rut}`);
  const rows = await runSql(em)<{ rut: string }>`
    select rut from enterprise where ${condition} limit ${FEW_ENTERPRISES + 1}`;
  return rows.length > FEW_ENTERPRISES ? null : rows.map((row) => row.rut);
}

const NEWEST_FIRST = sql`order by created_at desc, id desc`;

/** Returns subqueries that together contain the newest CFEs of a filter; each returns at most `most`. */
async function buildParts(
  em: EntityManager,
  accounts: ViewerAccounts,
  filter: CfeSearch,
  { narrow, most }: { narrow: Fragment; most: number },
): Promise<Fragment[]> {
  const newest = (where: Fragment): Fragment =>
    sql`select cfe.id, cfe.created_at from cfe where ${where} and ${narrow} ${NEWEST_FIRST} limit ${most}`;
  if (filter.text !== undefined) {
    const named = selectIdsOfText(
      accounts,
      parseSearch(filter.text),
      (condition) =>
        sql`select id from (${newest(whereAll(visibleTo(accounts, 'cfe.rut'), condition))}) having_it`,
    );
    return [newest(whereAll(sql`cfe.id in (${named})`, visibleAmong(accounts, 'cfe.rut')))];
  }
  // Of annulled ones PostgreSQL expects few, and would read all CFEs of the enterprises.
  const visible = filter.annulled ? visibleAmong : visibleTo;
  if (isSelective(filter)) return [newest(visible(accounts, 'cfe.rut'))];
  const environments = filter.environment ? [filter.environment] : ENVIRONMENTS;
  const byEnvironment = environments.map((environment) => cfe.and({ 'cfe.environment': environment }));
  // 1,000,000 CFEs, an account of 5 large enterprises, a month of emission: 230 ms; as several enterprises below 3.2 s.
  const ruts = await findFewEnterprises(em, accounts, filter.rut);
  if (ruts)
    return ruts.flatMap((rut) =>
      byEnvironment.map((one) => newest(whereAll(cfe.and({ 'cfe.rut': rut }), one))),
    );
  // The same CFEs, an account of 600 enterprises, e-Tickets: 80 ms; in one query more than 1 s.
  if (accounts !== null)
    return byEnvironment.map(
      (one) => sql`select newest.id, newest.created_at
        from enterprise cross join lateral (${newest(whereAll(sql`cfe.rut = enterprise.rut`, one))}) newest
        where ${visibleTo(accounts, 'enterprise.rut')}`,
    );
  // An operator, accepted ones: 14 ms; in one query more than 1 s.
  const types = filter.type ? [filter.type] : CFE_TYPE_NAMES;
  return types.flatMap((type) =>
    byEnvironment.map((one) => newest(whereAll(cfe.and({ 'cfe.type': type }), one))),
  );
}

/** Returns whether a condition of the filter matches few CFEs and has an index. */
const isSelective = ({ status, needsSupport, annulled, ...filter }: CfeSearch): boolean =>
  needsSupport === true ||
  annulled === true ||
  (status !== undefined && status !== 'ACCEPTED') ||
  [
    filter.stuckReason,
    filter.receiver,
    filter.externalId,
    filter.numero,
    filter.idempotencyKey,
    filter.requestId,
  ].some((one) => one !== undefined);

/**
 * Returns a page of the visible CFEs that match, newest first. CFEs issued meanwhile are newer: paging with `next`
 * returns each of the others once.
 */
export async function searchCfes(
  em: EntityManager,
  accounts: ViewerAccounts,
  filter: CfeSearch,
  { after, skip = 0, limit }: CfePage,
): Promise<FoundCfes> {
  const narrow = whereAll(
    filterCondition(accounts, filter),
    Boolean(after) &&
      sql`(cfe.created_at, cfe.id) < ((select created_at from cfe where id = ${after}), ${after}::uuid)`,
  );
  const parts = await buildParts(em, accounts, filter, { narrow, most: skip + limit + 1 });
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
 * Counts the visible CFEs that match. For one enterprise and environment, with no other condition than the type, it
 * reads the sequences: the cost does not grow with the number of CFEs.
 */
export async function countCfes(
  em: EntityManager,
  accounts: ViewerAccounts,
  filter: CfeSearch,
): Promise<number> {
  const { rut, environment, type: _type, ...more } = filter;
  const isPlain =
    rut !== undefined && environment !== undefined && Object.values(more).every((one) => one === undefined);
  const having = (one: Fragment): Fragment => sql`select id from cfe where ${one}`;
  const { text } = filter;
  const condition = whereAll(
    visibleTo(accounts, 'cfe.rut'),
    filterCondition(accounts, filter),
    text !== undefined && sql`cfe.id in (${selectIdsOfText(accounts, parseSearch(text), having)})`,
  );
  const [row] = await runSql(em)<{ total: number }>`select ${
    isPlain
      ? sql`coalesce(sum(last - skipped), 0)::integer as total from cfe_sequence cfe`
      : sql`count(*)::integer as total from cfe`
  } where ${condition}`;
  return row?.total ?? 0;
}

/** The target of a search text. */
export type SearchTarget =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'enterprise'; readonly rut: string }
  | { readonly kind: 'cfe'; readonly rut: string; readonly environment: Environment; readonly cfeId: string }
  /** `searchCfes` with the text returns them. */
  | { readonly kind: 'several' };

/**
 * Resolves a text among everything visible: an enterprise by RUT; one CFE by cfe_id, printed serie and number,
 * request id, Idempotency-Key, external_id or receiver's document; or several CFEs.
 */
export async function resolveSearchText(
  em: EntityManager,
  accounts: ViewerAccounts,
  text: string,
): Promise<SearchTarget> {
  const parsed = parseSearch(text);
  if (!parsed) return { kind: 'nothing' };
  if (parsed.rut !== null) {
    const rows = await runSql(em)`
      select rut from enterprise where rut = ${parsed.rut} and ${visibleTo(accounts, 'rut')}`;
    if (rows.length > 0) return { kind: 'enterprise', rut: parsed.rut };
  }
  const { cfes, next } = await searchCfes(em, accounts, { text }, { limit: 1 });
  const [one] = cfes;
  if (!one) return { kind: 'nothing' };
  if (next) return { kind: 'several' };
  return { kind: 'cfe', rut: one.rut, environment: one.environment, cfeId: formatCfeId(one) };
}
