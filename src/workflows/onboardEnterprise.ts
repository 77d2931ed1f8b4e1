import { condition, continueAsNew, setCurrentDetails, setHandler } from '@temporalio/workflow';
import { activity, factsChanged, OWN, shouldContinueAsNew, withoutCancellation } from './common.ts';

const makeReadyWhenComplete = activity('makeReadyWhenComplete', {
  ...OWN,
  summary: 'Look whether everything is there',
});

export interface OnboardEnterpriseInput {
  rut: string;
}

/**
 * Waits until all facts hold that an enterprise needs to issue, then makes it READY. Wakes when a fact changes and,
 * by its own timer, when the scheduled date comes. Ends once the enterprise is READY.
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
