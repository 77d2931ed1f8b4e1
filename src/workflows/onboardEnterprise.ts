import { condition, proxyActivities, setCurrentDetails, setHandler } from '@temporalio/workflow';
import type { EnterpriseActivities } from '../activities/enterprises.ts';
import { factsChanged } from './messages.ts';
import { OWN } from './options.ts';

const { makeReadyWhenComplete } = proxyActivities<EnterpriseActivities>({
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
export async function onboardEnterprise({ rut }: OnboardEnterpriseInput): Promise<{ status: 'READY' }> {
  let changed = false;
  setHandler(factsChanged, () => {
    changed = true;
  });
  for (;;) {
    changed = false;
    const { ready, lacking, dueInMilliseconds } = await makeReadyWhenComplete(rut);
    if (ready) {
      setCurrentDetails('Ended: READY.');
      return { status: 'READY' };
    }
    setCurrentDetails(`Waiting for: ${lacking.join(', ')}.`);
    if (dueInMilliseconds === null) await condition(() => changed);
    else await condition(() => changed, dueInMilliseconds, { summary: 'The scheduled date comes' });
  }
}
