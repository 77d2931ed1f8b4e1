import { condition, continueAsNew, setCurrentDetails, setHandler } from '@temporalio/workflow';
import { activity, factsChanged, SHORT_WORK, shouldContinueAsNew, withoutCancellation } from './common.ts';

const makeReadyWhenComplete = activity('makeReadyWhenComplete', {
  ...SHORT_WORK,
  summary: 'Check whether anything is missing',
});

export interface OnboardEnterpriseInput {
  rut: string;
}

/**
 * Waits until an enterprise has everything needed to issue, then makes it READY and ends. Wakes when a fact
 * changes and, by a timer, on the scheduled date.
 */
export const onboardEnterprise = withoutCancellation(
  async ({ rut }: OnboardEnterpriseInput): Promise<{ status: 'READY' }> => {
    let changed = false;
    setHandler(factsChanged, () => {
      changed = true;
    });
    for (;;) {
      if (shouldContinueAsNew()) await continueAsNew<typeof onboardEnterprise>({ rut });
      changed = false;
      const readiness = await makeReadyWhenComplete(rut);
      if (readiness.kind === 'ready') {
        setCurrentDetails('Ended: READY.');
        return { status: 'READY' };
      }
      const { lacking, dueInMilliseconds } = readiness;
      setCurrentDetails(`Waiting for: ${lacking.join(', ')}.`);
      if (dueInMilliseconds === null) await condition(() => changed);
      else await condition(() => changed, dueInMilliseconds, { summary: 'The scheduled date comes' });
    }
  },
);
