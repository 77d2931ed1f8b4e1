/** `supervisor.json`: who runs the stack of a data folder, and what the next start must end should it be killed. */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeAtOnce } from '../writeAtOnce.ts';
import type { ProcessMark } from './processes.ts';
import type { Watched } from './watchdog.ts';

export interface RunRecord {
  readonly holder: ProcessMark;
  readonly watchdog?: ProcessMark | undefined;
  readonly parts?: readonly Watched[];
}

const fileOf = (dataDir: string): string => join(dataDir, 'supervisor.json');

/** The record of a data folder; undefined when there is none, or none that can be read. */
export function readRunRecord(dataDir: string): RunRecord | undefined {
  try {
    return JSON.parse(readFileSync(fileOf(dataDir), 'utf8')) as RunRecord;
  } catch {
    return undefined;
  }
}

/** Writes the record, readable by its owner only. */
export function writeRunRecord(dataDir: string, record: RunRecord): void {
  writeAtOnce(fileOf(dataDir), JSON.stringify(record), 0o600);
}

/** Removes the record. */
export const removeRunRecord = (dataDir: string): void => rmSync(fileOf(dataDir), { force: true });
