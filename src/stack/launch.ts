/** Starting a part as a process of its own, apart from the terminal's process group, its output in a log file. */
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

/** A process that was started, or could not be: then there is no mark. */
export interface Launched {
  readonly mark: ProcessMark | undefined;
  /** How it ended, in words ("ended by SIGKILL"); never rejects. */
  readonly ended: Promise<string>;
}

const LOG_BYTES_AT_MOST = 20e6;

/** Starts the command; the process exists when this returns, so that it can be guarded from its first moment. */
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
    const ended = new Promise<string>((resolve) => {
      child.once('exit', (code, signal) =>
        resolve(signal ? `ended by ${signal}` : `ended with exit code ${code}`),
      );
      child.once('error', (error: NodeJS.ErrnoException) =>
        resolve(`could not be started (${error.code ?? error.name})`),
      );
    });
    return { mark: child.pid === undefined ? undefined : markOf(child.pid), ended };
  } finally {
    closeSync(log);
  }
}

/** The last lines of a log, for a person to see why something ended. */
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
