/** A file that one process holds and the others respect, taken over from a holder that has died. */
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import type { Guarded } from './guard.ts';
import { isRunning, markOf, type ProcessMark } from './processes.ts';

/** What a lock file holds: its holder, and the processes that whoever comes after a dead holder has to look for. */
export interface LockRecord {
  readonly holder: ProcessMark;
  readonly guard?: ProcessMark | undefined;
  readonly parts?: readonly Guarded[];
}

let names = 0;
/** A name beside the file that nobody else uses. */
const besides = (file: string): string => `${file}.${process.pid}.${++names}`;

/** Our own mark. Throws when the system does not tell it. */
export function ownMark(): ProcessMark {
  const mark = markOf(process.pid);
  if (!mark) throw new Error('the system does not tell when this process started');
  return mark;
}

/** What the lock file holds; undefined when there is none, or nothing that can be read. */
export function readLock(file: string): LockRecord | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as LockRecord;
  } catch {
    return undefined;
  }
}

/** Writes the holder's record anew, at one blow. */
export function rewriteLock(file: string, record: LockRecord): void {
  const written = besides(file);
  writeFileSync(written, JSON.stringify(record), { mode: 0o600 });
  renameSync(written, file);
}

/**
 * Takes the lock. Answers `{ taken: true }`, with the record of the dead holder it was taken over from where there was
 * one; or the record of the living holder.
 */
export function takeLock(
  file: string,
  record: LockRecord,
): { taken: true; left: LockRecord | undefined } | { taken: false; held: LockRecord } {
  const written = besides(file);
  let left: LockRecord | undefined;
  writeFileSync(written, JSON.stringify(record), { mode: 0o600 });
  try {
    for (;;) {
      try {
        // A hard link fails where the name exists, and appears with its content complete: both at one blow.
        linkSync(written, file);
        return { taken: true, left };
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
      const held = readLock(file);
      if (held && isRunning(held.holder)) return { taken: false, held };
      left = setAside(file) ?? left;
    }
  } finally {
    rmSync(written, { force: true });
  }
}

/** Moves a dead holder's file away and returns what it held; puts it back when meanwhile somebody living had taken it. */
function setAside(file: string): LockRecord | undefined {
  const aside = `${besides(file)}.dead`;
  try {
    renameSync(file, aside);
  } catch {
    return undefined;
  }
  const held = readLock(aside);
  if (held && isRunning(held.holder)) renameSync(aside, file);
  else rmSync(aside, { force: true });
  return held;
}

/** Lets the lock go, if it is ours. */
export function releaseLock(file: string): void {
  if (readLock(file)?.holder.pid === process.pid) rmSync(file, { force: true });
}
