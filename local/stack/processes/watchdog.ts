/**
 * The watchdog: a small process apart from ours that holds one end of a pipe. When the pipe closes, because its owner
 * ended in whatever way (SIGKILL included), it ends every process that it was told of. PostgreSQL and Temporal cannot
 * watch their parent themselves.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { EndPlan, ProcessMark } from './processes.ts';

/** A process that the watchdog ends with its owner; those with a higher `order` first. */
export interface Watched {
  readonly mark: ProcessMark;
  readonly plan: EndPlan;
  readonly order: number;
}

/** What the watchdog is told, one JSON object a line. */
export type WatchdogMessage =
  | { readonly add: Watched }
  | { readonly drop: ProcessMark }
  /** Files to remove once all have ended: they describe what no longer runs. */
  | { readonly files: readonly string[] };

export interface Watchdog {
  add(watched: Watched): void;
  drop(mark: ProcessMark): void;
  /** Ends the watchdog alone. */
  close(): void;
}

const START_AGAIN_AFTER_MS = 200;
const PROGRAM = fileURLToPath(new URL('watchdogProcess.ts', import.meta.url));

/**
 * Starts a watchdog; one that is killed is restarted and told everything again. It removes `files` once it has acted;
 * `onStart` gets its process number at each start.
 */
export function openWatchdog(
  options: { files?: readonly string[]; onStart?: (pid: number | undefined) => void } = {},
): Watchdog {
  const held = new Map<number, Watched>();
  let child: ChildProcess | undefined;
  let closed = false;

  const tell = (message: WatchdogMessage): void => {
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
      // Not at once: a watchdog that cannot run must not be restarted in a tight loop.
      if (!closed) setTimeout(start, START_AGAIN_AFTER_MS).unref();
    });
    child.unref();
    (child.stdin as { unref?: () => void } | null)?.unref?.();
    if (options.files) tell({ files: options.files });
    for (const watched of held.values()) tell({ add: watched });
    options.onStart?.(child.pid);
  };
  start();

  return {
    add(watched) {
      held.set(watched.mark.pid, watched);
      tell({ add: watched });
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
