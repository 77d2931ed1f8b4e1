import { condition, continueAsNew, setCurrentDetails, setHandler } from '@temporalio/workflow';
import type { CaeStartFinding } from '../domain/numbers/caeStart.ts';
import { activity, factsChanged, OTHER_CALL, shouldContinueAsNew, withoutCancellation } from './common.ts';

const checkStart = activity('checkCaeStart', {
  ...OTHER_CALL,
  summary: 'Ask the authority about the first number and the one before',
});

export interface CheckCaeStartInput {
  caeId: string;
}

/**
 * Asks the authority whether a CAE continues where another system stopped; ends with the findings. Waits for a missing
 * certificate. Asks again daily while there are findings: the other system may still be sending.
 */
export const checkCaeStart = withoutCancellation(
  async ({ caeId }: CheckCaeStartInput): Promise<{ findings: CaeStartFinding[] }> => {
    let changed = false;
    setHandler(factsChanged, () => {
      changed = true;
    });
    for (;;) {
      if (shouldContinueAsNew()) await continueAsNew<typeof checkCaeStart>({ caeId });
      changed = false;
      setCurrentDetails('Asking the authority; repeated until it answers.');
      const checked = await checkStart(caeId);
      if (checked.kind === 'noCertificate') {
        setCurrentDetails('Waiting for a certificate, which signs the question.');
        await condition(() => changed);
        continue;
      }
      const { findings } = checked;
      const description = findings.length === 0 ? 'nothing is wrong' : findings.join(', ');
      if (checked.kind === 'ended') {
        setCurrentDetails(`Ended: ${description}.`);
        return { findings };
      }
      setCurrentDetails(`Found: ${description}. The authority is asked again tomorrow.`);
      await condition(() => changed, checked.againInMilliseconds, {
        summary: 'The authority is asked again',
      });
    }
  },
);
