import { DatabaseSync } from 'node:sqlite';

/** A lock that this process holds. */
export interface FileLock {
  release(): void;
}

const SQLITE_BUSY = 5;
/** Two processes that try at the same moment block each other; within this time one gets through. */
const SORTED_OUT_WITHIN_MS = 100;

/**
 * Takes the lock of a file; undefined while a process holds it, this one included. It is SQLite's lock on an empty
 * database, so the system drops it the moment its holder dies. The file stays: removing it could let two in.
 */
export function takeLock(file: string): FileLock | undefined {
  const database = new DatabaseSync(file, { timeout: SORTED_OUT_WITHIN_MS });
  try {
    database.exec('BEGIN EXCLUSIVE');
    return { release: () => database.close() };
  } catch (error) {
    database.close();
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return undefined;
    throw error;
  }
}
