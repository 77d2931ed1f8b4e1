/** The one way to start a long-running process: in a process group of its own, its output in a log file. */
import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { markOf, type ProcessMark } from './processes.ts';

/** What to run. */
export interface Command {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** The system user to run as; ours when left out. */
  readonly user?: { readonly uid: number; readonly gid: number } | undefined;
  readonly logFile: string;
}

/** How a process ended. */
export interface Ending {
  /** 0 is success; null: by a signal, or never started. */
  readonly exitCode: number | null;
  /** Follows a name: "ended by SIGKILL". */
  readonly words: string;
}

/** A started process; without a mark when it could not be started. */
export interface Launched {
  readonly mark: ProcessMark | undefined;
  /** Never rejects. */
  readonly ended: Promise<Ending>;
  /** How it ended; undefined while it runs. */
  readonly ending: () => Ending | undefined;
}

const LOG_BYTES_AT_MOST = 20e6;

/** Starts the command; the process exists when this returns, so it can be watched from the first moment. */
export function launch(command: Command): Launched {
  mkdirSync(dirname(command.logFile), { recursive: true, mode: 0o700 });
  putBigLogAside(command.logFile);
  const log = openSync(command.logFile, 'a', 0o600);
  try {
    const child = spawn(command.program, command.args, {
      cwd: command.cwd,
      env: command.env,
      detached: true,
      stdio: ['ignore', log, log],
      ...command.user,
    });
    let ending: Ending | undefined;
    const ended = new Promise<Ending>((resolve) => {
      const end = (exitCode: number | null, words: string): void => resolve((ending = { exitCode, words }));
      child.once('exit', (code, signal) =>
        end(code, signal ? `ended by ${signal}` : `ended with exit code ${code}`),
      );
      child.once('error', (error: NodeJS.ErrnoException) =>
        end(null, `could not be started (${error.code ?? error.name})`),
      );
    });
    return { mark: child.pid === undefined ? undefined : markOf(child.pid), ended, ending: () => ending };
  } finally {
    closeSync(log);
  }
}

/** The last lines of a log, to show a person why something ended. */
export function lastLines(logFile: string, count = 5): string {
  try {
    return readFileSync(logFile, 'utf8').trim().split('\n').slice(-count).join('\n');
  } catch {
    return '';
  }
}

function putBigLogAside(file: string): void {
  try {
    if (statSync(file).size > LOG_BYTES_AT_MOST) renameSync(file, `${file}.1`);
  } catch {
    // There is no log yet.
  }
}
