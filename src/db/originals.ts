import type { EntityManager } from '@mikro-orm/postgresql';
import type { Original } from '../domain/cfeRule.ts';
import { CFE_TYPE_NAMES, cfeTypeRow } from '../domain/cfeTypes.ts';
import { type CfeKey, lockCfe, referencedAmount } from './cfes.ts';

const CREDIT_NOTES = CFE_TYPE_NAMES.filter((type) => cfeTypeRow(type).note === 'credit');

/** The CFE that a note corrects, with what the rules want to know of it. */
export interface LockedOriginal extends Original {
  readonly id: string;
}

/**
 * The CFE that a note names, locked until the open transaction ends: its status stands, and notes against it follow
 * one another, so that together they take no more than it has. Null when there is none.
 */
export async function lockOriginal(em: EntityManager, key: CfeKey): Promise<LockedOriginal | null> {
  const cfe = await lockCfe(em, key);
  if (!cfe) return null;
  const { id, document, status } = cfe;
  return { id, document, status, credited: await referencedAmount(em, id, CREDIT_NOTES) };
}
