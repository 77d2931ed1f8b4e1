import type { EntityManager } from '@mikro-orm/postgresql';

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
export function statement(name: string, sql: string): Statement {
  let values = 0;
  return { name, sql, text: sql.replaceAll('?', () => `$${(values += 1)}`) };
}

/**
 * The rows of a statement. Outside of a transaction it runs by itself, prepared, in one round trip: it is a transaction of
 * its own, which the database ends without asking us. Inside of one it is part of it.
 */
export async function rowsOf<Row>(
  em: EntityManager,
  { name, sql, text }: Statement,
  values: readonly Value[],
): Promise<Row[]> {
  if (em.isInTransaction()) return em.execute<Row[]>(sql, [...values]);
  const pool: Preparing = await em.getConnection().getNativeClient();
  return (await pool.query({ name, text, values })).rows as Row[];
}
