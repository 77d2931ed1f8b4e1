/**
 * The guard: a small process apart from ours that holds one end of a pipe. When the pipe ends, because its owner ended
 * in whatever way, SIGKILL included, it ends every process that it was told of. Foreign programs (PostgreSQL, Temporal)
 * cannot watch over their parent themselves.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { EndPlan, ProcessMark } from './processes.ts';

/** A process that the guard ends with its owner; those with a higher `order` first. */
export interface Guarded {
  readonly mark: ProcessMark;
  readonly plan: EndPlan;
  readonly order: number;
}

/** What the guard is told, one JSON object a line. */
export type GuardMessage =
  | { readonly add: Guarded }
  | { readonly drop: ProcessMark }
  /** Files to remove when all are ended: they speak of what then no longer runs. */
  | { readonly files: readonly string[] };

export interface Guard {
  add(guarded: Guarded): void;
  drop(mark: ProcessMark): void;
  /** Lets the guard go without ending anything. */
  close(): void;
}

const START_AGAIN_AFTER_MS = 200;
const PROGRAM = fileURLToPath(new URL('guardProcess.ts', import.meta.url));

/**
 * Starts a guard; one that is killed is started again and told everything anew. It removes `files` when it has acted;
 * `onStart` learns its process number at each start.
 */
export function openGuard(
  options: { files?: readonly string[]; onStart?: (pid: number | undefined) => void } = {},
): Guard {
  const held = new Map<number, Guarded>();
  let child: ChildProcess | undefined;
  let closed = false;

  const tell = (message: GuardMessage): void => {
    child?.stdin?.write(`${JSON.stringify(message)}\n`);
  };
  const start = (): void => {
    if (closed) return;
    child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', PROGRAM], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
      cwd: '/',
    });
    child.on('error', () => undefined);
    child.stdin?.on('error', () => undefined);
    child.once('exit', () => {
      // Not at once: a guard that cannot live must not be started in a tight loop.
      if (!closed) setTimeout(start, START_AGAIN_AFTER_MS).unref();
    });
    child.unref();
    (child.stdin as { unref?: () => void } | null)?.unref?.();
    if (options.files) tell({ files: options.files });
    for (const guarded of held.values()) tell({ add: guarded });
    options.onStart?.(child.pid);
  };
  start();

  return {
    add(guarded) {
      held.set(guarded.mark.pid, guarded);
      tell({ add: guarded });
    },
    drop(mark) {
      held.delete(mark.pid);
      tell({ drop: mark });
    },
    close() {
      closed = true;
      for (const { mark } of held.values()) tell({ drop: mark });
      tell({ files: [] });
      child?.stdin?.end();
    },
  };
}
