import { ApplicationFailure, CancelledFailure, CompleteAsyncError, log } from '@temporalio/activity';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { isBug } from './steps/attempt.ts';

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

/**
 * Interceptors of every worker: no activity lets the text of a foreign error into a history, and what fails by a mistake of
 * ours is told by its type, whatever it works on. An authority, a receiver or a database that is away is no such mistake.
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
          const told = withoutItsText(error);
          if (told !== error) log.error('an activity failed by a mistake or an outage of ours', { error });
          throw told;
        }
      },
    },
  }),
];
