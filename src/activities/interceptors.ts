import { ApplicationFailure, CancelledFailure, CompleteAsyncError, log } from '@temporalio/activity';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';

/**
 * What a history may know of an error that is no failure of ours: what kind it is, and its code. The texts of foreign
 * errors quote rows, papers and input; they go to the log without their text, and never into a history.
 */
function withoutItsText(error: unknown): Error {
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
    message: `${name}${known}; the worker's log has more. It is tried again by itself.`,
  });
}

/** Interceptors of every worker: no activity lets the text of a foreign error into a history. */
export const activityInterceptors: ActivityInterceptorsFactory[] = [
  () => ({
    inbound: {
      async execute(input, next) {
        try {
          return await next(input);
        } catch (error) {
          const told = withoutItsText(error);
          if (told !== error) log.error('an activity failed by a mistake or an outage of ours', { error });
          throw told;
        }
      },
    },
  }),
];
