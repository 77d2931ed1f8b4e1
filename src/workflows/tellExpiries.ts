import { setCurrentDetails } from '@temporalio/workflow';
import { activity } from './activities.ts';
import { OWN_LONG } from './options.ts';

const recordExpiries = activity('recordExpiries', {
  ...OWN_LONG,
  summary: 'Look whose certificate or CAE has expired',
});

/**
 * Tells the webhooks of every enterprise, once, that a certificate or a CAE has expired by date, and gives warnings
 * that are due. Started every hour by the schedule `expiries`; ends with how many enterprises were told.
 */
export async function tellExpiries(): Promise<{ told: number }> {
  setCurrentDetails('Looking for certificates and CAEs that passed their date.');
  const { enterprises } = await recordExpiries();
  setCurrentDetails(`Ended: enterprises told: ${enterprises}.`);
  return { told: enterprises };
}
