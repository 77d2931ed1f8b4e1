import { AsyncLocalStorage } from 'node:async_hooks';
import { ApplicationFailure, log } from '@temporalio/activity';
import { storeAttempts } from '../../db/attempts.ts';
import type { Orm } from '../../db/orm.ts';
import { type HeardCall, hearingCalls } from '../../dgi/client.ts';
import { ATTEMPT_OPERATIONS, type Attempt } from '../../domain/attempt.ts';

const noted = new AsyncLocalStorage<Attempt[]>();

/**
 * Runs a step for a sobre, or a CFE, and keeps every call to the authority that it makes. A statement that stores what came of a call may
 * take the calls with it (`takeAttempts`); what nobody took is stored at the end, however the step ended. That a call could not
 * be stored fails no step: the record is for people.
 */
export async function notingAttempts<T>(
  { orm, clock }: { orm: Orm; clock: () => Date },
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
