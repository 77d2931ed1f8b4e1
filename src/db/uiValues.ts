import type { EntityManager } from '@mikro-orm/postgresql';
import { UiValue } from './entities/UiValue.ts';

/**
 * The UI value that counts in `year`: that year's own row; where there is none, the last known one before it, and
 * where there is none either, the first one after it (docs/contract.md#value-of-the-ui). Null only while the table is
 * empty. The caller sees from `year` and `estimate` of the row whether it stands in for another.
 */
export async function uiValueFor(em: EntityManager, year: number): Promise<UiValue | null> {
  const before = await em.findOne(UiValue, { year: { $lte: year } }, { orderBy: { year: 'desc' } });
  return before ?? em.findOne(UiValue, { year: { $gt: year } }, { orderBy: { year: 'asc' } });
}

/** The UI value of every year that has one. */
export function listUiValues(em: EntityManager): Promise<UiValue[]> {
  return em.find(UiValue, {}, { orderBy: { year: 'asc' } });
}

/** Stores UI values, in place of those of the same years. */
export async function putUiValues(
  em: EntityManager,
  values: readonly Omit<UiValue, symbol>[],
): Promise<void> {
  if (values.length > 0) await em.upsertMany(UiValue, [...values], { onConflictFields: ['year'] });
}
