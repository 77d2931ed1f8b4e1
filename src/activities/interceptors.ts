import { ApplicationFailure, CancelledFailure, CompleteAsyncError, log } from '@temporalio/activity';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { isBug } from './authority/attempt.ts';

/**
 * Reduces an error to its type and code for the history. The texts of foreign errors may quote rows,
 * certificates and input, so neither log nor history gets them.
 */
function stripErrorText(error: unknown): Error {
  if (
    error instanceof ApplicationFailure ||
    error instanceof CancelledFailure ||
    error instanceof CompleteAsyncError
  ) {
    return error;
  }
  const name = error instanceof Error ? error.name : 'Unknown';
  const code = (error as { code?: unknown } | null)?.code;
  const known = typeof code === 'string' && /^[A-Z0-9_]{3,40}$/.test(code) ? ` ${code}` : '';
  return ApplicationFailure.create({
    type: name,
    message: `${name}${known}; see the worker's log. It is retried automatically.`,
  });
}

/**
 * Interceptors of every worker: keep texts of foreign errors out of the history, and report bugs by activity
 * type. An unavailable authority, receiver or database is no bug.
 */
export const activityInterceptors = (
  onBug: (activityType: string) => void,
): ActivityInterceptorsFactory[] => [
  ({ info }) => ({
    inbound: {
      async execute(input, next) {
        try {
          return await next(input);
        } catch (error) {
          if (isBug(error)) onBug(info.activityType);
          const failure = stripErrorText(error);
          if (failure !== error) log.error('an activity failed by a bug or an outage of ours', { error });
          throw failure;
        }
      },
    },
  }),
];
