/** What statements written in SQL have in common. */
import type { EntityManager, InferClassEntityDB } from '@mikro-orm/postgresql';
import { type Expression, expressionBuilder, sql } from 'kysely';
import type { Enterprise } from './entities/enterprises.ts';
import type { AuditEntry } from './entities/operations.ts';
import type { Cfe, ReceiptExport } from './entities/receipts.ts';
import type { DailyReport } from './entities/reports.ts';
import type { Delivery, Event, Webhook } from './entities/webhooks.ts';

/** Columns of the tables that lists are made of, as Kysely knows them. */
type Tables = InferClassEntityDB<
  | typeof Cfe
  | typeof DailyReport
  | typeof Delivery
  | typeof Enterprise
  | typeof Event
  | typeof ReceiptExport
  | typeof Webhook
> & { readonly audit: InferClassEntityDB<typeof AuditEntry>['audit_entry'] };

/** Part of a statement, its values in it. */
export type Fragment = Expression<unknown>;

/** Writes conditions on the columns of these tables. */
export const conditionBuilder = <Table extends keyof Tables>() => expressionBuilder<Tables, Table>();

/** Conditions that must all hold; one that is not asked for is left out. */
export const whereAll = (...conditions: readonly (Fragment | false | null | undefined)[]): Fragment =>
  joinSql(
    'and',
    [sql`true`, ...conditions].filter((one) => !!one),
  );

/** Parts of a statement with that word between them. */
export const joinSql = (word: 'and' | 'union all' | 'intersect', parts: readonly Fragment[]): Fragment =>
  sql.join(
    parts.map((part) => sql`(${part})`),
    sql.raw(` ${word} `),
  );

/** A tag for a whole statement: its rows. Inside of a transaction it is part of it. */
export const runSql =
  (em: EntityManager) =>
  async <Row = unknown>(...statement: Parameters<typeof sql>): Promise<Row[]> =>
    (await sql<Row>(...statement).execute(em.getKysely())).rows;

/** A statement that each connection parses and plans once, and knows by its name from then on. */
export interface Statement {
  readonly name: string;
  /** With `?` for each value; every one of them has its type written behind it (`?::text`). */
  readonly sql: string;
  /** The same in PostgreSQL's own notation. */
  readonly text: string;
}

/** Values go as text, numbers, bytes or null; whatever else goes as the text of its JSON. */
type Value = string | number | boolean | Buffer | null;

/** What runs prepared statements: a pool of connections. */
interface Preparing {
  query(statement: { name: string; text: string; values: readonly Value[] }): Promise<{ rows: unknown[] }>;
}

/**
 * Declares a statement; `name` is its own among all statements. What it selects is named column by column, never `*`: a
 * migration that adds a column would make it fail on the connections that know it already.
 */
export function declareStatement(name: string, sql: string): Statement {
  let values = 0;
  return { name, sql, text: sql.replaceAll('?', () => `$${(values += 1)}`) };
}

/**
 * The rows of a statement. Outside of a transaction it runs by itself, prepared, in one round trip: it is a transaction of
 * its own, which the database ends without asking us. Inside of one it is part of it.
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
 * Waits until nobody else who names the same things holds their turn in an open transaction, so that what is counted of
 * them stays true until ours ends. No row is locked: all else goes on meanwhile.
 */
export async function takeAdvisoryLock(em: EntityManager, at: string): Promise<void> {
  await em.execute('select pg_advisory_xact_lock(hashtextextended(?, 0))', [at]);
}

/**
 * The moment now by PostgreSQL's clock, the one clock that all processes share: what one stores, another can compare.
 * `clock`: that of a test, which stands in for it.
 */
export async function databaseNow(em: EntityManager, clock?: () => Date): Promise<Date> {
  if (clock) return clock();
  const [row] = await em.execute<{ now: number }[]>(`select ${millisecondsSql('clock_timestamp()')} as now`);
  if (!row) throw new Error('the database does not tell the time');
  return new Date(Math.round(row.now));
}

/** The same within a statement: takes the parameter that `nowParameter` gives. */
export const NOW = 'coalesce(?::timestamptz, clock_timestamp())';

/** The parameter of `NOW`. */
export const nowParameter = (clock?: () => Date): string | null => clock?.().toISOString() ?? null;

/** A moment, or a span, of a statement in milliseconds. */
export const millisecondsSql = (expression: string): string =>
  `extract(epoch from ${expression})::float8 * 1000`;
