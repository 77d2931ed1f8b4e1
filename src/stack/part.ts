/** One part under supervision: started, watched until it answers, started again with back-off when it dies. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Guarded } from './guard.ts';
import { type Command, lastLines, launch } from './launch.ts';
import { type EndPlan, type ProcessMark, waitUntil } from './processes.ts';
import { type Say, secondsSince } from './progress.ts';
import { StackError } from './stackError.ts';

/** What a part is and how to tell that it works. */
export interface PartSpec {
  readonly name: string;
  readonly command: Command;
  readonly plan: EndPlan;
  /** Among all parts: the highest is ended first. */
  readonly order: number;
  /** Whether it answers; asked again and again while it starts. Must not reject. */
  readonly answers: () => Promise<boolean>;
  /** What has to be put right before each start. */
  readonly beforeStart?: () => Promise<void>;
}

export interface PartHooks {
  readonly say: Say;
  /** The part runs as another process now, or as none. */
  readonly onProcess: (running: Guarded | undefined, before: ProcessMark | undefined) => void;
}

/** A part that runs. */
export interface Part {
  readonly name: string;
  /** Resolves when it answers for the first time; rejects with StackError when it will not come up. */
  readonly ready: Promise<void>;
  /** Its process, if it has one just now. */
  running(): Guarded | undefined;
  /** From now on it is not started again. */
  halt(): void;
}

/** Milliseconds before each start after a death; a part that has answered for a while begins anew. */
const PAUSES_MS = [0, 250, 500, 1_000, 2_000, 4_000];
const STEADY_AFTER_MS = 15_000;
const DEATHS_BEFORE_IT_ANSWERED = 4;
const FIRST_ANSWER_WITHIN_MS = 90_000;
const PROBE_EVERY_MS = 40;

/** Starts a part and keeps it running until it is halted. */
export function keepRunning(spec: PartSpec, hooks: PartHooks): Part {
  const halted = new AbortController();
  const first = Promise.withResolvers<void>();
  let running: Guarded | undefined;
  let everAnswered = false;
  // Whoever starts the part may await it later; an early failure must not count as unhandled meanwhile.
  first.promise.catch(() => undefined);

  const become = (next: Guarded | undefined): void => {
    const before = running?.mark;
    running = next;
    hooks.onProcess(next, before);
  };

  const failure = (how: string): StackError =>
    new StackError(
      `${spec.name} ${how}. The last lines of ${spec.command.logFile}:\n${lastLines(spec.command.logFile)}`,
    );

  /** One life of the part; how it ended, and for how many milliseconds it had answered. */
  const live = async (again: boolean): Promise<{ end: string; answeredMs: number }> => {
    await spec.beforeStart?.();
    if (halted.signal.aborted) return { end: 'was halted', answeredMs: 0 };
    const startedAt = performance.now();
    const { mark, ended } = launch(spec.command);
    if (mark) become({ mark, plan: spec.plan, order: spec.order });
    let end: string | undefined;
    void ended.then((how) => (end = how));
    const over = (): boolean => end !== undefined || halted.signal.aborted;
    const patience = everAnswered ? Number.POSITIVE_INFINITY : FIRST_ANSWER_WITHIN_MS;
    const settled = await waitUntil(async () => over() || (await spec.answers()), patience, PROBE_EVERY_MS);
    const answeredAt = performance.now();
    if (!settled) first.reject(failure(`does not answer within ${FIRST_ANSWER_WITHIN_MS / 1000} s`));
    if (settled && !over()) {
      everAnswered = true;
      first.resolve();
      if (again)
        hooks.say(`${spec.name} answers again after ${secondsSince(startedAt)} (process ${mark?.pid}).`);
    }
    const how = await ended;
    become(undefined);
    return { end: how, answeredMs: performance.now() - answeredAt };
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
      if (!everAnswered && deaths >= DEATHS_BEFORE_IT_ANSWERED) return first.reject(failure(end));
      const wait = PAUSES_MS[Math.min(deaths, PAUSES_MS.length) - 1] ?? 0;
      hooks.say(`${spec.name} ${end}; starting it again${wait >= 1_000 ? ` in ${wait / 1_000} s` : ''}.`);
      await pause(wait, undefined, { signal: halted.signal }).catch(() => undefined);
      if (halted.signal.aborted) return;
    }
  };
  void keep();

  return { name: spec.name, ready: first.promise, running: () => running, halt: () => halted.abort() };
}
