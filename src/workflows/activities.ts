import { type ActivityOptions, proxyActivities } from '@temporalio/workflow';
import type { Activities, Activity } from '../activities/activities.ts';
import type { ActivityName } from '../domain/activityResults.ts';
import { presentResult } from '../domain/oldActivityResults.ts';

/** An activity as workflows call it. A result that an older version gave comes out in today's shape. */
export function activity<N extends ActivityName>(name: N, options: ActivityOptions): Activity<N> {
  const activities: Activities = proxyActivities<Activities>(options);
  const run: Activity<N> = activities[name];
  return async (...input) => presentResult(name, await run(...input));
}
