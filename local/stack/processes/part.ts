/** One part under supervision: started, watched until it answers, restarted with back-off when it dies. */
import { setTimeout as pause } from 'node:timers/promises';
import { StackError } from '../stackError.ts';
import { type Command, lastLines, launch } from './launch.ts';
import { type EndPlan, type ProcessMark, waitUntil } from './processes.ts';
import { type Say, secondsSince } from './progress.ts';
import type { Watched } from './watchdog.ts';

/** How a server is started, ended and asked whether it works. */
export interface Server {
  readonly command: Command;
  readonly plan: EndPlan;
  /** Whether it answers; asked again and again while it starts. Must not reject. */
  readonly answers: () => Promise<boolean>;
  /** Makes things ready before each start. */
  readonly beforeStart?: () => Promise<void>;
}

/** A server that is kept running. */
export interface PartSpec extends Server {
  readonly name: string;
  /** Among all parts: the highest is ended first. */
  readonly order: number;
}

export interface PartHooks {
  readonly say: Say;
  /** The part now runs as another process, or as none. */
  readonly onProcess: (running: Watched | undefined, before: ProcessMark | undefined) => void;
}

/** A part that runs. */
export interface Part {
  /** Resolves when it first answers; rejects with StackError when it will not come up. */
  readonly ready: Promise<void>;
  /** Its process, if it has one at the moment. */
  running(): Watched | undefined;
  /** From now on it is not started again. */
  halt(): void;
}

/** Milliseconds before each restart, from the first again once a part has answered for 15 s. */
const PAUSES_MS = [0, 250, 500, 1_000, 2_000, 4_000];
const STEADY_AFTER_MS = 15_000;
const DEATHS_BEFORE_IT_ANSWERED = 4;
const FIRST_ANSWER_WITHIN_MS = 90_000;
const PROBE_EVERY_MS = 40;

/** Starts a part and keeps it running until it is halted. */
export function keepRunning(spec: PartSpec, hooks: PartHooks): Part {
  const halted = new AbortController();
  const first = Promise.withResolvers<void>();
  let running: Watched | undefined;
  let everAnswered = false;
  // The caller may await it later; until then an early failure must not count as unhandled.
  first.promise.catch(() => undefined);

  const become = (next: Watched | undefined): void => {
    const before = running?.mark;
    running = next;
    hooks.onProcess(next, before);
  };

  /** One life of the part; how it ended, and for how many milliseconds it had answered. */
  const live = async (again: boolean): Promise<{ end: string; answeredMs: number }> => {
    await spec.beforeStart?.();
    if (halted.signal.aborted) return { end: 'was halted', answeredMs: 0 };
    const startedAt = performance.now();
    const { mark, ended, ending } = launch(spec.command);
    if (mark) become({ mark, plan: spec.plan, order: spec.order });
    const over = (): boolean => ending() !== undefined || halted.signal.aborted;
    const patience = everAnswered ? Number.POSITIVE_INFINITY : FIRST_ANSWER_WITHIN_MS;
    const inTime = await waitUntil(async () => over() || (await spec.answers()), patience, PROBE_EVERY_MS);
    const answeredAt = performance.now();
    if (!inTime) first.reject(failureOf(spec, `did not answer within ${FIRST_ANSWER_WITHIN_MS / 1000} s`));
    if (inTime && !over()) {
      everAnswered = true;
      first.resolve();
      if (again) hooks.say(`${spec.name} is back after ${secondsSince(startedAt)} (process ${mark?.pid}).`);
    }
    const { words } = await ended;
    become(undefined);
    return { end: words, answeredMs: performance.now() - answeredAt };
  };

  const keep = async (): Promise<void> => {
    let deaths = 0;
    for (let again = false; ; again = true) {
      const { end, answeredMs } = await live(again).catch((error: unknown) => ({
        end: `could not be started (${error instanceof Error ? error.message : 'unknown reason'})`,
        answeredMs: 0,
      }));
      if (halted.signal.aborted) return;
      deaths = answeredMs > STEADY_AFTER_MS ? 1 : deaths + 1;
      if (!everAnswered && deaths >= DEATHS_BEFORE_IT_ANSWERED) return first.reject(failureOf(spec, end));
      const wait = PAUSES_MS[Math.min(deaths, PAUSES_MS.length) - 1] ?? 0;
      hooks.say(`${spec.name} ${end}; restarting it${wait >= 1_000 ? ` in ${wait / 1_000} s` : ''}.`);
      await pause(wait, undefined, { signal: halted.signal }).catch(() => undefined);
      if (halted.signal.aborted) return;
    }
  };
  void keep();

  return { ready: first.promise, running: () => running, halt: () => halted.abort() };
}

const failureOf = ({ name, command: { logFile } }: PartSpec, how: string): StackError =>
  new StackError(`${name} ${how}. The last lines of ${logFile}:\n${lastLines(logFile)}`);
