import {
  type ActivityOptions,
  isCancellation,
  type LocalActivityOptions,
  proxyActivities,
  proxyLocalActivities,
  TemporalFailure,
} from '@temporalio/workflow';
import type { Activities, Activity } from '../activities/activities.ts';
import type { ActivityName, ActivityResults } from '../domain/activityResults.ts';

/** An activity as workflows call it. */
export const activity = <N extends ActivityName>(name: N, options: ActivityOptions): Activity<N> =>
  (proxyActivities<Activities>(options) as Activities)[name];

/**
 * The same, run within the workflow task, which costs the server next to nothing. What fails there once comes back as
 * `failed`: only an activity of its own shows an operator what is being tried.
 */
export function activityAtOnce<N extends ActivityName>(
  name: N,
  options: LocalActivityOptions,
): (...input: Parameters<Activity<N>>) => Promise<ActivityResults[N] | 'failed'> {
  const activities: Activities = proxyLocalActivities<Activities>({
    ...options,
    retry: { maximumAttempts: 1 },
  });
  const run: Activity<N> = activities[name];
  return async (...input) => {
    try {
      return await run(...input);
    } catch (error) {
      if (isCancellation(error) || !(error instanceof TemporalFailure)) throw error;
      return 'failed';
    }
  };
}
