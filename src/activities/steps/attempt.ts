/** What goes on around an attempt of a step: its heartbeats, the calls that it makes, and how it fails. */
import { AsyncLocalStorage } from 'node:async_hooks';
import {
  ApplicationFailure,
  activityInfo,
  CancelledFailure,
  CompleteAsyncError,
  heartbeat,
  log,
} from '@temporalio/activity';
import { storeAttempts } from '../../db/attempts.ts';
import { clearOwnFault, markOwnFault } from '../../db/cfes.ts';
import { isDatabaseOutage, type Orm } from '../../db/orm.ts';
import { type HeardCall, hearingCalls } from '../../dgi/client.ts';
import { ATTEMPT_OPERATIONS, type Attempt } from '../../domain/attempt.ts';
import { DEADLINES } from '../../domain/deadlines.ts';

/** What is done around an attempt goes by these. */
interface AttemptDeps {
  readonly orm: Orm;
  readonly clock: () => Date;
}

// Heartbeats.

/** What a step is at, as the pending activity shows it. */
type Phase = 'signing' | 'sending' | 'asking';

/** What an attempt leaves to the next one; the server keeps it with the heartbeats. */
interface Kept {
  phase?: Phase;
  /** Attempts that failed in a row because the authority could not be reached. */
  failures?: number;
  /** The moment, in milliseconds, that is reserved for the next question for verdicts. */
  questionAt?: number | null;
}

const beating = new AsyncLocalStorage<{ readonly kept: Kept; readonly beat: () => void }>();

/**
 * Runs a long step and says meanwhile that it is alive, so that the server notices within seconds, not minutes, when
 * the worker that ran it is gone. With each word it leaves `details` to the next attempt; unless told, what an attempt before
 * has left stays.
 */
export async function withHeartbeat<T>(
  work: () => Promise<T>,
  details: () => unknown = () => activityInfo().heartbeatDetails,
): Promise<T> {
  const kept: Kept = {};
  const beat = (): void => {
    const told = details();
    heartbeat(Object.keys(kept).length === 0 ? told : { ...(told as object | undefined), ...kept });
  };
  const timer = setInterval(beat, DEADLINES.heartbeatEvery);
  try {
    return await beating.run({ kept, beat }, work);
  } finally {
    clearInterval(timer);
  }
}

/** Shows from the next heartbeat on what the step is at. */
export function showPhase(phase: Phase): void {
  const store = beating.getStore();
  if (store) store.kept.phase = phase;
}

/** What this attempt has kept, or the one before. */
const keptNow = (): Kept => ({
  ...(activityInfo().heartbeatDetails as Kept | undefined),
  ...beating.getStore()?.kept,
});

function keep(kept: Kept): void {
  const store = beating.getStore();
  if (!store) return;
  Object.assign(store.kept, kept);
  store.beat();
}

/** Keeps the moment that was reserved for a question; it is used once. */
export const keepReservedQuestion = (at: Date | null): void => keep({ questionAt: at?.getTime() ?? null });

/** The moment that an attempt before has reserved for its question. */
export function takeReservedQuestion(): Date | null {
  const { questionAt } = keptNow();
  if (typeof questionAt !== 'number') return null;
  keep({ questionAt: null });
  return new Date(questionAt);
}

// Calls to the authority.

const noted = new AsyncLocalStorage<Attempt[]>();

/**
 * Runs a step for a sobre, or a CFE, and keeps every call to the authority that it makes. A statement that stores what came
 * of a call may take the calls with it (`takeAttempts`); what nobody took is stored at the end, however the step ended. That
 * a call could not be stored fails no step: the record is for people.
 */
export async function recordAttempts<T>(
  { orm, clock }: AttemptDeps,
  subject: string,
  step: () => Promise<T>,
): Promise<T> {
  const attempts: Attempt[] = [];
  let nextAt: Date | null = null;
  try {
    return await noted.run(attempts, () => hearingCalls((call) => note(attempts, call), step));
  } catch (error) {
    nextAt = nextTry(error, clock());
    throw error;
  } finally {
    const left = attempts.splice(0);
    if (left.length > 0)
      await storeAttempts(orm.em.fork(), subject, left, nextAt).catch((error: unknown) =>
        log.warn('what was said to the authority could not be stored', { error }),
      );
  }
}

/** The calls of the running step that are not stored yet; whoever takes them stores them. */
export const takeAttempts = (): readonly Attempt[] => noted.getStore()?.splice(0) ?? [];

/** A call that the breaker held back was none. */
function note(attempts: Attempt[], { operation, answer, result, seconds, trace }: HeardCall): void {
  const known = ATTEMPT_OPERATIONS.find((each) => each === operation);
  if (!known || answer === 'held back') return;
  const { at, code, detail, reasons, request, response } = trace;
  attempts.push({
    operation: known,
    answer: code ?? answer,
    result,
    at,
    milliseconds: Math.round(seconds * 1_000),
    detail,
    reasons: [...reasons],
    request,
    response,
  });
}

function nextTry(error: unknown, now: Date): Date | null {
  const pause = error instanceof ApplicationFailure ? error.nextRetryDelay : undefined;
  return typeof pause === 'number' ? new Date(now.getTime() + pause) : null;
}

// How an attempt fails on purpose: what is to be tried again, and when.

/**
 * Longest pause between two attempts at an authority that cannot be reached (docs/contract.md#waiting-for-the-authority).
 */
const LONGEST_PAUSE_SECONDS = 60;
/**
 * How often an undecided authority is asked again (docs/contract.md#waiting-for-the-authority), in seconds: up to the first
 * of each pair, counted from when it could first be asked, after the second.
 */
const POLL_SECONDS: readonly (readonly [until: number, pause: number])[] = [
  [1, 1],
  [3, 2],
  [8, 5],
  [18, 10],
  [48, 30],
  [600, 60],
  [3_600, 300],
];
const LAST_POLL_SECONDS = 900;

/** A report that gave way to CFEs looks again after so long, and up to as much more at random. */
const AFTER_CFES_MILLISECONDS = 5_000;

/**
 * The authority cannot be reached, or surely did not take the request: the attempt fails and Temporal repeats it
 * after 1 s, doubling to 60 s with each such failure in a row, each pause shortened by up to a fifth at random.
 */
export function authorityUnreachable(what: string): ApplicationFailure {
  const failures = (keptNow().failures ?? 0) + 1;
  keep({ failures });
  const seconds = Math.min(2 ** Math.min(failures - 1, 10), LONGEST_PAUSE_SECONDS);
  return ApplicationFailure.create({
    type: 'AuthorityUnreachable',
    message: `The authority cannot be reached (${what}); it is tried again by itself.`,
    nextRetryDelay: Math.round(seconds * 1_000 * (1 - Math.random() / 5)),
  });
}

/** Pause before a question that the authority refuses is asked once more: a person has to mend something meanwhile. */
const REFUSED_MILLISECONDS = 3_600_000;

/** The authority does not answer this question of this company; nothing else waits for it. It is asked again in an hour. */
export function authorityRefuses(reason: string): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'AuthorityRefuses',
    message: `The authority refuses to answer (${reason}); it is asked again by itself, every hour.`,
    nextRetryDelay: REFUSED_MILLISECONDS,
  });
}

/** The authority is away, and this CFE is the prober: it looks again in so many milliseconds. */
export function probeAgainIn(milliseconds: number): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'AuthorityUnreachable',
    message: 'The authority cannot be reached; this sobre probes it for all that wait.',
    nextRetryDelay: Math.max(1, milliseconds),
  });
}

/** The authority has no verdict yet: asked again after `waitMilliseconds`. Not a failure in logs and metrics. */
export function notYet(message: string, waitMilliseconds: number): ApplicationFailure {
  if ((keptNow().failures ?? 0) > 0) keep({ failures: 0 });
  return ApplicationFailure.create({
    type: 'NotYet',
    category: 'BENIGN',
    message,
    nextRetryDelay: Math.max(1, Math.round(waitMilliseconds)),
  });
}

/** CFEs are sent first: the report takes its turn a little later. Not a failure in logs and metrics. */
export function yieldToCfes(): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'CfesFirst',
    category: 'BENIGN',
    message: 'CFEs are sent before this report; it waits for a free slot.',
    nextRetryDelay: Math.round(AFTER_CFES_MILLISECONDS * (1 + Math.random())),
  });
}

/** Milliseconds until the next question for a verdict, where the first could be asked so long ago. */
export function pollPause(sinceMilliseconds: number, longestSeconds: number): number {
  const row = POLL_SECONDS.find(([until]) => sinceMilliseconds < until * 1_000);
  return Math.min(row?.[1] ?? LAST_POLL_SECONDS, longestSeconds) * 1_000;
}

// Mistakes of ours.

/**
 * Since when a step fails by a mistake of ours, in milliseconds; null once it has failed otherwise. Kept by the server
 * from attempt to attempt, with the heartbeats: a step that does not fail costs nothing.
 */
interface Known {
  readonly failingSince: number | null;
}

/**
 * A step of a sobre which tells that it keeps failing by a mistake of ours: after DEADLINES.ownFault its CFEs wait for
 * support, reason `internal`, in their rows and, by a signal, in its run. It is tried again all the same. Once it ends,
 * or fails for another reason, they wait for nobody (docs/workflows.md).
 */
export function reportBugs<T, A extends unknown[]>(
  { orm, clock }: AttemptDeps,
  step: (sobreId: string, ...rest: A) => Promise<T>,
): (sobreId: string, ...rest: A) => Promise<T> {
  return async (sobreId, ...rest) => {
    const since = failingSince();
    let result: T;
    try {
      result = await step(sobreId, ...rest);
    } catch (error) {
      if (isBug(error)) await noteFault({ orm, clock }, sobreId, since);
      else if (since !== null && error instanceof ApplicationFailure) {
        await clearOwnFault(orm.em.fork(), sobreId, clock());
        heartbeat({ ...keptNow(), failingSince: null } satisfies Known & Kept);
      }
      throw error;
    }
    if (since !== null) await clearOwnFault(orm.em.fork(), sobreId, clock());
    return result;
  };
}

/** Whether it is neither an outage nor what a step says on purpose. */
export const isBug = (error: unknown): boolean =>
  !(
    error instanceof ApplicationFailure ||
    error instanceof CancelledFailure ||
    error instanceof CompleteAsyncError ||
    isDatabaseOutage(error)
  );

async function noteFault({ orm, clock }: AttemptDeps, sobreId: string, since: number | null): Promise<void> {
  const now = clock();
  const first = since ?? now.getTime();
  heartbeat({ failingSince: first } satisfies Known);
  if (now.getTime() - first < DEADLINES.ownFault) return;
  await markOwnFault(orm.em.fork(), sobreId, now).catch((error: unknown) =>
    // The step's own error is what the log and the history are to have; the next attempt tells.
    log.warn('that a step keeps failing by a mistake of ours could not be told', { error }),
  );
}

function failingSince(): number | null {
  const known = activityInfo().heartbeatDetails as Known | undefined;
  return known?.failingSince ?? null;
}
