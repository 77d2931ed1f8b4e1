import { setCurrentDetails } from '@temporalio/workflow';
import type { Purged } from '../domain/retention.ts';
import { activity } from './activities.ts';
import { OWN_LONG } from './options.ts';

const deleteExpired = activity('deleteExpired', {
  ...OWN_LONG,
  summary: 'Take out the rows whose time is over',
});

/**
 * Takes out what is kept for a time only. Started every hour by the schedule `purge`; ends with how many rows of each
 * table went.
 */
export async function purgeExpired(): Promise<Purged> {
  setCurrentDetails('Taking out the rows whose time is over, in batches.');
  const { rows } = await deleteExpired();
  setCurrentDetails('Ended.');
  return rows;
}
