/** Parts of every attempt of a step: heartbeats, the record of its calls, and its failures. */
import { AsyncLocalStorage } from 'node:async_hooks';
import {
  ApplicationFailure,
  activityInfo,
  CancelledFailure,
  CompleteAsyncError,
  Context,
  heartbeat,
  log,
} from '@temporalio/activity';
import { storeAttempts } from '../../db/authority/attempts.ts';
import { isDatabaseOutage, type Orm } from '../../db/orm.ts';
import { clearStuckByBug, markStuckByBug } from '../../db/receipts/cfes.ts';
import { type RecordedCall, recordCalls } from '../../dgi/client.ts';
import { ATTEMPT_OPERATIONS, type AuthorityCallRecord } from '../../domain/authority/attempt.ts';
import { DEADLINES } from '../../domain/authority/deadlines.ts';

/** Dependencies of these functions. */
interface AttemptDeps {
  readonly orm: Orm;
  readonly clock: () => Date;
}

// Heartbeats.

/** The phase of a step, which the pending activity shows. */
type Phase = 'signing' | 'sending' | 'asking';

/** The state of an attempt, which the heartbeats pass to the next attempt. */
interface AttemptState {
  phase?: Phase;
  /** Consecutive failures because the authority was unreachable. */
  failures?: number;
  /** The reserved time of the next question for verdicts, in milliseconds since 1970. */
  questionAt?: number | null;
  /** Since when the step fails by a bug, in milliseconds since 1970; null once it fails otherwise. */
  failingSince?: number | null;
}

/** The state of each running attempt. */
const states = new WeakMap<Context, AttemptState>();

/**
 * Runs a long step with heartbeats, so that the server notices a crashed worker within seconds. Each
 * heartbeat passes `details` to the next attempt; by default the details of the previous attempt.
 */
export async function withHeartbeat<T>(
  work: () => Promise<T>,
  details: () => unknown = () => activityInfo().heartbeatDetails,
): Promise<T> {
  const beat = (): void => {
    const state = states.get(Context.current());
    const extra = details();
    heartbeat(state ? { ...(extra as object | undefined), ...state } : extra);
  };
  const timer = setInterval(beat, DEADLINES.heartbeatEvery);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

/** Identifies one activity of one run, the same at each of its repeats. */
export function executionId(): string {
  const { workflowExecution, activityId } = activityInfo();
  return `${workflowExecution?.runId ?? ''}/${activityId}`;
}

/** Shows the phase of the step from the next heartbeat on. */
export function showPhase(phase: Phase): void {
  const context = Context.current();
  states.set(context, { ...states.get(context), phase });
}

/** Returns the state of this attempt; by default that of the previous attempt. */
const readState = (): AttemptState => ({
  ...(activityInfo().heartbeatDetails as AttemptState | undefined),
  ...states.get(Context.current()),
});

/** Sends changed state at once: the attempt may fail before its next heartbeat. */
function saveState(changes: AttemptState): void {
  const context = Context.current();
  states.set(context, { ...states.get(context), ...changes });
  heartbeat(readState());
}

/** Passes the reserved time of a question to the next attempt. */
export const keepReservedQuestion = (at: Date | null): void =>
  saveState({ questionAt: at?.getTime() ?? null });

/** Returns and clears the time that an earlier attempt reserved for its question. */
export function takeReservedQuestion(): Date | null {
  const { questionAt } = readState();
  if (typeof questionAt !== 'number') return null;
  saveState({ questionAt: null });
  return new Date(questionAt);
}

// Calls to the authority.

const recorded = new AsyncLocalStorage<AuthorityCallRecord[]>();

/**
 * Runs a step for a sobre or a CFE and records its calls to the authority. A statement that stores a result
 * may take the calls with it (`takeCalls`); the rest is stored at the end, however the step ends. A
 * failure to store them fails no step: the record is for people.
 */
export async function recordStepCalls<T>(
  { orm, clock }: AttemptDeps,
  subject: string,
  step: () => Promise<T>,
): Promise<T> {
  const attempts: AuthorityCallRecord[] = [];
  let nextAt: Date | null = null;
  try {
    return await recorded.run(attempts, () => recordCalls((call) => addCall(attempts, call), step));
  } catch (error) {
    nextAt = nextAttemptAt(error, clock());
    throw error;
  } finally {
    const left = attempts.splice(0);
    if (left.length > 0)
      await storeAttempts(orm.em.fork(), subject, left, nextAt).catch((error: unknown) =>
        log.warn('calls to the authority could not be stored', { error }),
      );
  }
}

/** Returns the unstored calls of the running step; the caller stores them. */
export const takeCalls = (): readonly AuthorityCallRecord[] => recorded.getStore()?.splice(0) ?? [];

/** Adds a call, unless the breaker held it back. */
function addCall(
  attempts: AuthorityCallRecord[],
  { operation, answer, result, seconds, trace }: RecordedCall,
): void {
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

function nextAttemptAt(error: unknown, now: Date): Date | null {
  const pause = error instanceof ApplicationFailure ? error.nextRetryDelay : undefined;
  return typeof pause === 'number' ? new Date(now.getTime() + pause) : null;
}

// Failures that schedule the next attempt.

/**
 * Longest pause between two attempts at an unreachable authority
 * (docs/contract.md#waiting-for-the-authority).
 */
const LONGEST_PAUSE_SECONDS = 60;
/**
 * Pauses between questions to an undecided authority (docs/contract.md#waiting-for-the-authority), in seconds: `pause` applies
 * until `until`, counted from the earliest moment for a question.
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

/** Pause of a report that lets CFEs go first; up to as much again is added at random. */
const AFTER_CFES_MILLISECONDS = 5_000;

/**
 * The authority is unreachable or surely did not take the request: Temporal repeats the attempt after 1 s,
 * doubling to 60 s with each such failure in a row, each pause shortened by up to a fifth at random.
 */
export function authorityUnreachable(detail: string): ApplicationFailure {
  const failures = (readState().failures ?? 0) + 1;
  saveState({ failures });
  const seconds = Math.min(2 ** Math.min(failures - 1, 10), LONGEST_PAUSE_SECONDS);
  return ApplicationFailure.create({
    type: 'AuthorityUnreachable',
    message: `The authority cannot be reached (${detail}); it is retried automatically.`,
    nextRetryDelay: Math.round(seconds * 1_000 * (1 - Math.random() / 5)),
  });
}

/** Pause before a refused query is repeated: a person must correct something first. */
const REFUSED_MILLISECONDS = 3_600_000;

/**
 * The authority refuses a query of this company on which nothing else depends: the query is repeated in an hour.
 */
export function authorityRefuses(reason: string): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'AuthorityRefuses',
    message: `The authority refuses to answer (${reason}); it is asked again automatically, every hour.`,
    nextRetryDelay: REFUSED_MILLISECONDS,
  });
}

/** The authority is unreachable and this sobre is the prober: the next probe is in `milliseconds`. */
export function probeAgainIn(milliseconds: number): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'AuthorityUnreachable',
    message: 'The authority cannot be reached; this sobre probes it for all that wait.',
    nextRetryDelay: Math.max(1, milliseconds),
  });
}

/** Schedules the next attempt after `waitMilliseconds`. Not a failure in logs and metrics. */
export const retryLater = (type: string, message: string, waitMilliseconds: number): ApplicationFailure =>
  ApplicationFailure.create({
    type,
    category: 'BENIGN',
    message,
    nextRetryDelay: Math.max(1, Math.round(waitMilliseconds)),
  });

/** Schedules the next attempt of a step that the authority has answered. */
export function notYet(message: string, waitMilliseconds: number): ApplicationFailure {
  if ((readState().failures ?? 0) > 0) saveState({ failures: 0 });
  return retryLater('NotYet', message, waitMilliseconds);
}

/** Lets CFEs go first: the report is retried a little later. */
export const yieldToCfes = (): ApplicationFailure =>
  retryLater(
    'CfesFirst',
    'CFEs are sent before this report; it waits for a free slot.',
    AFTER_CFES_MILLISECONDS * (1 + Math.random()),
  );

/** Returns the milliseconds until the next question for a verdict, by the time since the earliest moment for one. */
export function pollPause(sinceMilliseconds: number, longestSeconds: number): number {
  const row = POLL_SECONDS.find(([until]) => sinceMilliseconds < until * 1_000);
  return Math.min(row?.[1] ?? LAST_POLL_SECONDS, longestSeconds) * 1_000;
}

// Bugs.

/**
 * Wraps a step of a sobre to report a persistent bug: after DEADLINES.bugEscalation its CFEs need support, reason
 * `internal`, in their rows and, by a signal, in its run. The step is still retried; once it ends or fails
 * for another reason the mark is cleared (docs/workflows.md).
 */
export function reportBugs<T, A extends unknown[]>(
  { orm, clock }: AttemptDeps,
  step: (sobreId: string, ...rest: A) => Promise<T>,
): (sobreId: string, ...rest: A) => Promise<T> {
  return async (sobreId, ...rest) => {
    const since = readState().failingSince ?? null;
    let result: T;
    try {
      result = await step(sobreId, ...rest);
    } catch (error) {
      if (isBug(error)) await recordBug({ orm, clock }, sobreId, since);
      else if (since !== null && error instanceof ApplicationFailure) {
        await clearStuckByBug(orm.em.fork(), sobreId, clock());
        saveState({ failingSince: null });
      }
      throw error;
    }
    if (since !== null) await clearStuckByBug(orm.em.fork(), sobreId, clock());
    return result;
  };
}

/** Returns whether an error is neither an outage nor a failure that a step throws on purpose. */
export const isBug = (error: unknown): boolean =>
  !(
    error instanceof ApplicationFailure ||
    error instanceof CancelledFailure ||
    error instanceof CompleteAsyncError ||
    isDatabaseOutage(error)
  );

async function recordBug({ orm, clock }: AttemptDeps, sobreId: string, since: number | null): Promise<void> {
  const now = clock();
  const first = since ?? now.getTime();
  saveState({ failingSince: first });
  if (now.getTime() - first < DEADLINES.bugEscalation) return;
  await markStuckByBug(orm.em.fork(), sobreId, now).catch((error: unknown) =>
    // Log and history must show the step's own error; the next attempt reports again.
    log.warn('a persistent bug could not be reported', { error }),
  );
}
