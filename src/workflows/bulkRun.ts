import {
  CancellationScope,
  continueAsNew,
  isCancellation,
  setCurrentDetails,
  sleep,
} from '@temporalio/workflow';
import type { RunResult } from '../domain/activityResults.ts';
import { activity, OWN, OWN_LONG, shouldContinueAsNew } from './common.ts';

const actOnItems = activity('actOnItems', {
  ...OWN_LONG,
  // What ends the run counts what is done: nothing may go on beside it. The SDK would not wait.
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  summary: 'Act on the next things, one after the other',
});
const stopItems = activity('stopItems', { ...OWN, summary: 'End the run: nothing more is begun' });

export interface BulkRunInput {
  runId: string;
}

/**
 * Does what a person decided for many things (docs/operations.md#bulk-runs), batch after batch, as the rows of the run say.
 * Ends with `DONE` or `STOPPED` and the counts. Cancelled, it ends STOPPED: what is under way is ended, nothing more begun.
 */
export async function bulkRun({ runId }: BulkRunInput): Promise<Omit<Ended, 'kind'>> {
  setCurrentDetails('Begins.');
  try {
    for (;;) {
      const result = await actOnItems(runId);
      if (result.kind === 'ended') return ended(result);
      setCurrentDetails(`${wordsOf(result)} To stop it: \`run stop ${runId}\`, or its page in the console.`);
      if (result.pauseMilliseconds > 0)
        await sleep(result.pauseMilliseconds, { summary: 'Not faster than the others can bear' });
      if (shouldContinueAsNew()) await continueAsNew<typeof bulkRun>({ runId });
    }
  } catch (error) {
    if (!isCancellation(error)) throw error;
    const result = await CancellationScope.nonCancellable(() => stopItems(runId));
    if (result.kind !== 'ended') throw error;
    return ended(result);
  }
}

type Ended = RunResult & { kind: 'ended' };

function ended(result: Ended): Omit<Ended, 'kind'> {
  setCurrentDetails(`Ended: ${result.state}. ${wordsOf(result)}`);
  const { kind: _, ...rest } = result;
  return rest;
}

const wordsOf = ({ total, done, unneeded, refused }: RunResult): string =>
  `${done + unneeded + refused} of ${total} looked at; done: ${done}, no longer needed: ${unneeded}, refused: ${refused}.`;
