/** Processes of this machine, told apart from later ones with the same number. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

/**
 * A process: its number, and when it started in the system's own notation, so that a reused number is not mistaken for
 * it.
 */
export interface ProcessMark {
  readonly pid: number;
  readonly startedAt: string;
}

/** How a process is asked to end: each signal with the milliseconds it is given; SIGKILL follows the last. */
export type EndPlan = readonly { readonly signal: NodeJS.Signals; readonly graceMs: number }[];

let bootId: string | undefined;

/** The mark of a running process; undefined when there is none, or only a zombie. */
export function markOf(pid: number): ProcessMark | undefined {
  const startedAt = process.platform === 'linux' ? startOnLinux(pid) : startByPs(pid);
  return startedAt === undefined ? undefined : { pid, startedAt };
}

function startOnLinux(pid: number): string | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return undefined;
  }
  // The name, in parentheses, may hold anything; the fields after it are numbers. proc(5): 3 is the state, 22 the start.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
  bootId ??= readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
  return `${bootId}/${fields[19]}`;
}

function startByPs(pid: number): string | undefined {
  try {
    const line = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return line.trim().startsWith('Z') ? undefined : line.trim().replace(/^\S+\s+/, '');
  } catch {
    return undefined;
  }
}

/** Whether exactly this process still runs. */
export const isRunning = (mark: ProcessMark): boolean => markOf(mark.pid)?.startedAt === mark.startedAt;

/** The command line of a process, its words separated by spaces; empty when it cannot be read. */
export function commandLineOf(pid: number): string {
  try {
    if (process.platform === 'linux')
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
    return execFileSync('ps', ['-o', 'command=', '-p', String(pid)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return '';
  }
}

/** Sends a signal to a process, or to its group by a negative number; no error when it is gone. @internal exported for tests */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It is gone, or its number now belongs to another user: nothing of ours is left to end.
  }
}

/** Ends a process by its plan and waits until it is gone; true when it went without SIGKILL. */
export async function endProcess(mark: ProcessMark, plan: EndPlan): Promise<boolean> {
  for (const { signal: name, graceMs } of plan) {
    if (!isRunning(mark)) return true;
    signal(mark.pid, name);
    if (await waitUntil(() => !isRunning(mark), graceMs)) return true;
  }
  // Each part leads a process group, so what it started goes with it.
  signal(-mark.pid, 'SIGKILL');
  if (isRunning(mark)) signal(mark.pid, 'SIGKILL');
  await waitUntil(() => !isRunning(mark), 5_000);
  return false;
}

/** Polls until the condition holds; false when it does not within the given milliseconds. */
export async function waitUntil(
  condition: () => boolean | Promise<boolean>,
  withinMs: number,
  everyMs = 25,
): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    if (await condition()) return true;
    if (performance.now() >= deadline) return false;
    await pause(everyMs);
  }
}
