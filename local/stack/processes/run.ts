/** One run of the stack in a data folder: only one at a time, recorded so that the next can clear up after it. */
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { StackError } from '../stackError.ts';
import { removeStackFile, runningStack, stackFileOf } from '../stackFile.ts';
import { endInOrder } from './ending.ts';
import { takeLock } from './fileLock.ts';
import { isRunning, markOf, type ProcessMark, waitUntil } from './processes.ts';
import type { Say } from './progress.ts';
import { type RunRecord, readRunRecord, removeRunRecord, writeRunRecord } from './runRecord.ts';
import { openWatchdog, type Watchdog, type Watched } from './watchdog.ts';

/** The stack of this data folder is running or starting; the message says where. */
class StackRuns extends StackError {}

/** A run that holds its data folder. */
export interface Run {
  readonly watchdog: Watchdog;
  /** A process of ours replaced another, was started, or ended. */
  replace(running: Watched | undefined, before: ProcessMark | undefined): void;
  /** Releases the folder; everything must have ended. */
  close(): void;
}

/** A watchdog that outlives its owner ends everything within 12 s. */
const WATCHDOG_DONE_WITHIN_MS = 15_000;

/**
 * Takes the data folder and ends what a killed run left behind, told from other processes by their start times. Throws
 * StackRuns when the stack already runs here.
 */
export async function openRun(dataDir: string, say: Say): Promise<Run> {
  mkdirSync(dataDir, { recursive: true });
  // Other users may pass through (PostgreSQL's must) but not look.
  chmodSync(dataDir, 0o711);
  const lock = takeLock(join(dataDir, 'supervisor.lock'));
  const left = readRunRecord(dataDir);
  if (!lock) throw new StackRuns(whereItRuns(dataDir, left));
  const holder = ownMark();
  const parts = new Map<number, Watched>();
  let watchdogMark: ProcessMark | undefined;
  const keepRecord = (): void =>
    writeRunRecord(dataDir, { holder, watchdog: watchdogMark, parts: [...parts.values()] });
  // Should we die while clearing up, the next start must still find them.
  for (const part of left?.parts ?? []) parts.set(part.mark.pid, part);
  keepRecord();
  if (left) await clearUp(left, say);
  parts.clear();
  removeStackFile(dataDir);
  const watchdog: Watchdog = openWatchdog({
    files: [stackFileOf(dataDir)],
    onStart: (pid) => {
      watchdogMark = pid === undefined ? undefined : markOf(pid);
      keepRecord();
    },
  });
  return {
    watchdog,
    replace(running, before) {
      if (before) {
        parts.delete(before.pid);
        watchdog.drop(before);
      }
      if (running) {
        watchdog.add(running);
        parts.set(running.mark.pid, running);
      }
      keepRecord();
    },
    close() {
      watchdog.close();
      removeStackFile(dataDir);
      removeRunRecord(dataDir);
      lock.release();
    },
  };
}

/** Our own mark. Throws when the system does not tell it. */
function ownMark(): ProcessMark {
  const mark = markOf(process.pid);
  if (!mark) throw new Error('the system does not tell when this process started');
  return mark;
}

function whereItRuns(dataDir: string, record: RunRecord | undefined): string {
  const info = runningStack(dataDir);
  if (!info)
    return `The stack of ${dataDir} is being started${record ? ` by process ${record.holder.pid}` : ''}.`;
  return [
    `The stack of ${dataDir} is already running (process ${info.pids.supervisor}):`,
    `  API          ${info.base_url}`,
    `  Temporal UI  ${info.temporal_ui_url ?? info.temporal_address}`,
    `  Simulator    ${info.simulator_url}`,
    'Stop it there, or set CFE_DATA_DIR to another folder to run a second one.',
  ].join('\n');
}

async function clearUp(left: RunRecord, say: Say): Promise<void> {
  const { watchdog } = left;
  if (watchdog && isRunning(watchdog)) {
    say('The last run was killed and is still shutting down; waiting for it …');
    await waitUntil(() => !isRunning(watchdog), WATCHDOG_DONE_WITHIN_MS);
  }
  const leftovers = (left.parts ?? []).filter(({ mark }) => isRunning(mark));
  if (leftovers.length === 0) return;
  say('The last run was killed; ending the processes it left behind …');
  await endInOrder(leftovers);
}
