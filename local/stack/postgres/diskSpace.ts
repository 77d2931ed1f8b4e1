import { existsSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { StackError } from '../stackError.ts';

const GIGABYTE = 1e9;

/**
 * Throws StackError when the disk that holds `folder`, or will, has fewer than `bytes` free; `purpose` begins the
 * message.
 */
export function needDiskSpace(folder: string, bytes: number, purpose: string): void {
  let existing = folder;
  while (!existsSync(existing)) existing = dirname(existing);
  const { bavail, bsize } = statfsSync(existing);
  const free = bavail * bsize;
  if (free >= bytes) return;
  throw new StackError(
    `${purpose} needs ${gigabytes(bytes)} GB of free disk space at ${folder}; only ${gigabytes(free)} GB are free. Make room and try again.`,
  );
}

const gigabytes = (bytes: number): string => (bytes / GIGABYTE).toFixed(1);
