import { closeSync, fsyncSync, openSync, renameSync, writeFileSync } from 'node:fs';

/** Writes a file atomically: a reader, or a crash, finds the old content or the new, never a part of it. */
export function writeAtOnce(file: string, content: string | Uint8Array, mode: number): void {
  const written = `${file}.${process.pid}.new`;
  const descriptor = openSync(written, 'w', mode);
  try {
    writeFileSync(descriptor, content);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(written, file);
}
