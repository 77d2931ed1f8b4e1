import type { EntityManager } from '@mikro-orm/postgresql';

/**
 * The moment now by PostgreSQL's clock, the one clock that all processes share: what one stores, another can compare.
 * `clock`: that of a test, which stands in for it.
 */
export async function databaseNow(em: EntityManager, clock?: () => Date): Promise<Date> {
  if (clock) return clock();
  const [row] = await em.execute<{ now: number }[]>(`select ${milliseconds('clock_timestamp()')} as now`);
  if (!row) throw new Error('the database does not tell the time');
  return new Date(Math.round(row.now));
}

/** The same within a statement: takes the parameter that `nowParameter` gives. */
export const NOW = 'coalesce(?::timestamptz, clock_timestamp())';

/** The parameter of `NOW`. */
export const nowParameter = (clock?: () => Date): string | null => clock?.().toISOString() ?? null;

/** A moment, or a span, of a statement in milliseconds. */
export const milliseconds = (expression: string): string =>
  `extract(epoch from ${expression})::float8 * 1000`;
