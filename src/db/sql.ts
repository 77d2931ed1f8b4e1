/** Helpers for statements in SQL. */
import type { EntityManager, InferClassEntityDB } from '@mikro-orm/postgresql';
import { type Expression, expressionBuilder, sql } from 'kysely';
import type { Enterprise } from './entities/enterprises.ts';
import type { AuditEntry } from './entities/operations.ts';
import type { Cfe, ReceiptExport } from './entities/receipts.ts';
import type { DailyReport } from './entities/reports.ts';
import type { Delivery, Event, Webhook } from './entities/webhooks.ts';

/** Columns of the tables behind the lists, as Kysely knows them. */
type Tables = InferClassEntityDB<
  | typeof Cfe
  | typeof DailyReport
  | typeof Delivery
  | typeof Enterprise
  | typeof Event
  | typeof ReceiptExport
  | typeof Webhook
> & { readonly audit: InferClassEntityDB<typeof AuditEntry>['audit_entry'] };

/** A part of a statement, with its values. */
export type Fragment = Expression<unknown>;

/** Returns Kysely's builder of conditions on the columns of these tables. */
export const conditionBuilder = <Table extends keyof Tables>() => expressionBuilder<Tables, Table>();

/**
 * Joins conditions with `and`; skips those that are false, null or undefined. The one way to compose a WHERE clause.
 */
export const whereAll = (...conditions: readonly (Fragment | false | null | undefined)[]): Fragment =>
  joinSql(
    'and',
    [sql`true`, ...conditions].filter((one) => !!one),
  );

/** `T` without undefined values. */
type Given<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** Returns the given conditions of an `em.find`: leaves out undefined ones, as `whereAll` does in SQL. */
export const givenConditions = <T extends object>(conditions: T): Given<T> =>
  Object.fromEntries(Object.entries(conditions).filter(([, value]) => value !== undefined)) as Given<T>;

/** Joins parts of a statement, each in parentheses, with `word`. */
export const joinSql = (word: 'and' | 'union all' | 'intersect', parts: readonly Fragment[]): Fragment =>
  sql.join(
    parts.map((part) => sql`(${part})`),
    sql.raw(` ${word} `),
  );

/** Template tag that runs a whole statement and returns its rows, in the open transaction if there is one. */
export const runSql =
  (em: EntityManager) =>
  async <Row = unknown>(...statement: Parameters<typeof sql>): Promise<Row[]> =>
    (await sql<Row>(...statement).execute(em.getKysely())).rows;

/** Returns the LIKE pattern of texts that contain `text`; escapes its wildcards. */
export const containsPattern = (text: string): string => `%${escapeLike(text)}%`;

/** Returns `text` as a LIKE pattern that matches itself. */
export const escapeLike = (text: string): string => text.replace(/[\\%_]/g, '\\$&');

/** A prepared statement: each connection parses and plans it once, and then knows it by name. */
export interface Statement {
  readonly name: string;
  /** With `?` for each value, always followed by its type (`?::text`). */
  readonly sql: string;
  /** The same with `$1`, `$2`, …. */
  readonly text: string;
}

/** Values are sent as text, numbers, bytes or null; everything else as JSON text. */
type Value = string | number | boolean | Buffer | null;

/** Runs prepared statements: a pool of connections. */
interface Preparing {
  query(statement: { name: string; text: string; values: readonly Value[] }): Promise<{ rows: unknown[] }>;
}

/**
 * Declares a statement with a unique name. It must select columns by name, never `*`: a migration that adds a column
 * would break it on connections that have prepared it.
 */
export function declareStatement(name: string, sql: string): Statement {
  let values = 0;
  return { name, sql, text: sql.replaceAll('?', () => `$${(values += 1)}`) };
}

/**
 * Runs a statement and returns its rows. Outside a transaction it is prepared and commits on its own, in one round
 * trip; inside it is part of the transaction.
 */
export async function runStatement<Row>(
  em: EntityManager,
  { name, sql, text }: Statement,
  values: readonly Value[],
): Promise<Row[]> {
  if (em.isInTransaction()) return em.execute<Row[]>(sql, [...values]);
  const pool: Preparing = await em.getConnection().getNativeClient();
  return (await pool.query({ name, text, values })).rows as Row[];
}

/**
 * Waits for the advisory lock with this name and holds it until the open transaction ends, so that counts made under
 * it stay true. Locks no rows.
 */
export async function takeAdvisoryLock(em: EntityManager, at: string): Promise<void> {
  await em.execute('select pg_advisory_xact_lock(hashtextextended(?, 0))', [at]);
}

/**
 * Returns the time of PostgreSQL's clock, which all processes share: stored times can be compared. `clock`: a test's
 * clock, which replaces it.
 */
export async function databaseNow(em: EntityManager, clock?: () => Date): Promise<Date> {
  if (clock) return clock();
  const [row] = await em.execute<{ now: number }[]>(`select ${millisecondsSql('clock_timestamp()')} as now`);
  if (!row) throw new Error('the database returned no time');
  return new Date(Math.round(row.now));
}

/** SQL for the time of PostgreSQL's clock. Takes the parameter of `nowParameter`. */
export const NOW = 'coalesce(?::timestamptz, clock_timestamp())';

/** Returns the parameter of `NOW`. */
export const nowParameter = (clock?: () => Date): string | null => clock?.().toISOString() ?? null;

/** SQL for a time or an interval in milliseconds. */
export const millisecondsSql = (expression: string): string =>
  `extract(epoch from ${expression})::float8 * 1000`;
