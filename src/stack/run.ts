/** One run of the stack in a data folder: only one at a time, recorded so that the next can clear up after it. */
import { chmodSync, mkdirSync } from 'node:fs';
import { endInOrder } from './ending.ts';
import { type LockRecord, ownMark, releaseLock, rewriteLock, takeLock } from './fileLock.ts';
import { type Guard, type Guarded, openGuard } from './guard.ts';
import { isRunning, markOf, type ProcessMark, waitUntil } from './processes.ts';
import type { Say } from './progress.ts';
import { StackError } from './stackError.ts';
import { lockFileOf, removeStackFile, runningStack, stackFileOf } from './stackFile.ts';

/** The stack of this data folder runs already, or is being started; the message says where. */
class StackRuns extends StackError {}

/** A run that holds its data folder. */
export interface Run {
  readonly guard: Guard;
  /** A process of ours took the place of another, or of none, or ended. */
  replace(running: Guarded | undefined, before: ProcessMark | undefined): void;
  /** Lets the folder go; everything must have ended. */
  close(): void;
}

/** A guard that outlives its owner ends everything within 12 s. */
const GUARD_DONE_WITHIN_MS = 15_000;

/**
 * Takes the data folder. What a killed run left behind is ended first, told from other processes by the time of its
 * start. Throws StackRuns when the stack runs here already.
 */
export async function openRun(dataDir: string, say: Say): Promise<Run> {
  mkdirSync(dataDir, { recursive: true });
  // Others of this machine may pass (PostgreSQL's own user must) but not look.
  chmodSync(dataDir, 0o711);
  const file = lockFileOf(dataDir);
  const holder = ownMark();
  const parts = new Map<number, Guarded>();
  const taken = takeLock(file, { holder, parts: [] });
  if (!taken.taken) throw new StackRuns(whereItRuns(dataDir, taken.held.holder.pid));
  let guardMark: ProcessMark | undefined;
  const keepRecord = (): void => rewriteLock(file, { holder, guard: guardMark, parts: [...parts.values()] });
  if (taken.left) {
    // Should we die now, the next start must still find them.
    for (const part of taken.left.parts ?? []) parts.set(part.mark.pid, part);
    keepRecord();
    await clearUp(taken.left, say);
    parts.clear();
  }
  removeStackFile(dataDir);
  const guard: Guard = openGuard({
    files: [stackFileOf(dataDir)],
    onStart: (pid) => {
      guardMark = pid === undefined ? undefined : markOf(pid);
      keepRecord();
    },
  });
  return {
    guard,
    replace(running, before) {
      if (before) {
        parts.delete(before.pid);
        guard.drop(before);
      }
      if (running) {
        guard.add(running);
        parts.set(running.mark.pid, running);
      }
      keepRecord();
    },
    close() {
      guard.close();
      removeStackFile(dataDir);
      releaseLock(file);
    },
  };
}

function whereItRuns(dataDir: string, pid: number): string {
  const info = runningStack(dataDir);
  if (!info) return `The stack of ${dataDir} is being started by process ${pid}.`;
  return [
    `The stack of ${dataDir} runs already (process ${pid}):`,
    `  API          ${info.base_url}`,
    `  Temporal UI  ${info.temporal_ui_url ?? info.temporal_address}`,
    `  Simulator    ${info.simulator_url}`,
    'End it there, or set CFE_DATA_DIR to another folder for a second one.',
  ].join('\n');
}

async function clearUp(left: LockRecord, say: Say): Promise<void> {
  const { guard } = left;
  if (guard && isRunning(guard)) {
    say('The last run was killed and is still being ended; waiting for that …');
    await waitUntil(() => !isRunning(guard), GUARD_DONE_WITHIN_MS);
  }
  const leftovers = (left.parts ?? []).filter(({ mark }) => isRunning(mark));
  if (leftovers.length === 0) return;
  say('The last run was killed; ending what it left behind …');
  await endInOrder(leftovers);
}
