import type { EntityManager } from '@mikro-orm/postgresql';
import { isUuid } from '../domain/uuid.ts';
import { SavedFilter } from './entities/SavedFilter.ts';

/** Most filters that a person keeps for one list. */
export const MOST_SAVED_FILTERS = 30;

/** The filters that a person keeps for the list at a path, by name. */
export function savedFiltersOf(em: EntityManager, personId: string, path: string): Promise<SavedFilter[]> {
  return em.find(SavedFilter, { personId, path }, { orderBy: { name: 'asc' }, limit: MOST_SAVED_FILTERS });
}

/** Keeps a filter, in place of the one of that name. */
export async function putSavedFilter(em: EntityManager, filter: Omit<SavedFilter, symbol>): Promise<void> {
  await em.upsert(SavedFilter, filter, {
    onConflictFields: ['personId', 'path', 'name'],
    onConflictMergeFields: ['query'],
  });
}

/** Forgets a filter of that person. False where they have none with this id. */
export async function deleteSavedFilter(em: EntityManager, personId: string, id: string): Promise<boolean> {
  return isUuid(id) && (await em.nativeDelete(SavedFilter, { id, personId })) > 0;
}
