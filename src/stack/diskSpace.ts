import { existsSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { StackError } from './stackError.ts';

const GIGABYTE = 1e9;

/** Throws a StackError with clear words when the disk that holds `folder` (or will) has fewer free bytes than needed. */
export function needDiskSpace(folder: string, bytes: number, purpose: string): void {
  let existing = folder;
  while (!existsSync(existing)) existing = dirname(existing);
  const { bavail, bsize } = statfsSync(existing);
  const free = bavail * bsize;
  if (free >= bytes) return;
  throw new StackError(
    `${purpose} needs ${gigabytes(bytes)} GB of free disk space at ${folder}; there are ${gigabytes(free)} GB. Make room and start again.`,
  );
}

const gigabytes = (bytes: number): string => (bytes / GIGABYTE).toFixed(1);
