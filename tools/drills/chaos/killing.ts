import { setTimeout as pause } from 'node:timers/promises';
import type { ExtraProgram } from '../../../test/support/stacks.ts';
import type { Chance } from './chance.ts';

/** Something that can be killed: its process just now, if it has one. */
export interface Victim {
  name: string;
  pid: () => number | null;
}

/** Kills a victim every few seconds until it is told to stop; counts the kills by name. */
export interface Killer {
  kills: Map<string, number>;
  /** Resolves when every victim was killed once. */
  allKilled: Promise<void>;
  stop(): Promise<void>;
}

/** Seconds between two kills. */
const SHORTEST = 1.5;
const LONGEST = 4.5;

/** Starts killing. Every victim has its turn before one has the next, in an order of chance. */
export function startKilling(victims: readonly Victim[], chance: Chance): Killer {
  const kills = new Map<string, number>();
  const all = Promise.withResolvers<void>();
  const ending = new AbortController();
  async function run(): Promise<void> {
    let left = [...victims];
    while (!ending.signal.aborted) {
      const seconds = SHORTEST + chance.next() * (LONGEST - SHORTEST);
      await pause(seconds * 1_000, undefined, { signal: ending.signal }).catch(() => undefined);
      const victim = chance.oneOf(left);
      if (ending.signal.aborted || !kill(victim.pid())) continue;
      kills.set(victim.name, (kills.get(victim.name) ?? 0) + 1);
      left = left.filter((other) => other !== victim);
      if (left.length > 0) continue;
      all.resolve();
      left = [...victims];
    }
  }
  const running = run();
  return {
    kills,
    allKilled: all.promise,
    async stop() {
      ending.abort();
      await running;
    },
  };
}

/** Whether there was a process to kill. */
function kill(pid: number | null): boolean {
  try {
    return pid !== null && process.kill(pid, 'SIGKILL');
  } catch {
    // It has just died by itself.
    return false;
  }
}

/** A process that nobody supervises but we. */
export interface Kept {
  current(): ExtraProgram | null;
  stop(): Promise<void>;
}

/** Starts a process and, whenever it has died or does not come up, the next. Resolves once the first is ready. */
export async function keepAlive(start: () => Promise<ExtraProgram>): Promise<Kept> {
  const ending = new AbortController();
  const first = Promise.withResolvers<void>();
  let current: ExtraProgram | null = null;
  async function run(): Promise<void> {
    while (!ending.signal.aborted) {
      current = await start().catch(() => null);
      first.resolve();
      if (current) await endOf(current, ending.signal);
      // It was killed, or what it needs is away for the moment.
      await pause(500, undefined, { signal: ending.signal }).catch(() => undefined);
    }
    await current?.stop();
  }
  const running = run();
  await first.promise;
  return {
    current: () => current,
    async stop() {
      ending.abort();
      await running;
    },
  };
}

/** Resolves when the process has ended, or when it is to be ended. */
function endOf({ ended }: ExtraProgram, signal: AbortSignal): Promise<unknown> {
  return Promise.race([ended, new Promise((resolve) => signal.addEventListener('abort', resolve))]);
}
