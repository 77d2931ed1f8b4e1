import { type ActivityOptions, proxyActivities } from '@temporalio/workflow';
import type { Activities, Activity } from '../activities/activities.ts';
import type { ActivityName } from '../domain/activityResults.ts';

/** An activity as workflows call it. */
export const activity = <N extends ActivityName>(name: N, options: ActivityOptions): Activity<N> =>
  (proxyActivities<Activities>(options) as Activities)[name];
