import {
  CancellationScope,
  continueAsNew,
  isCancellation,
  setCurrentDetails,
  sleep,
} from '@temporalio/workflow';
import type { RunResult } from '../domain/authority/activityResults.ts';
import { activity, LONG_WORK, SHORT_WORK, shouldContinueAsNew } from './common.ts';

const actOnItems = activity('actOnItems', {
  ...LONG_WORK,
  // The end of the run counts the finished items, so no item may run beside it. By default the SDK would not
  // wait.
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  summary: 'Act on the next items, one after the other',
});
const stopItems = activity('stopItems', {
  ...SHORT_WORK,
  summary: 'End the run: no further item is started',
});

export interface BulkRunInput {
  runId: string;
}

/**
 * Acts on many items as a person decided (docs/operations.md#bulk-runs), batch after batch, by the rows of
 * the run. Ends with `DONE` or `STOPPED` and the counts. When cancelled it finishes the items under way,
 * starts no other and ends STOPPED.
 */
export async function bulkRun({ runId }: BulkRunInput): Promise<Omit<Ended, 'kind'>> {
  setCurrentDetails('Started.');
  try {
    for (;;) {
      const result = await actOnItems(runId);
      if (result.kind === 'ended') return showEnd(result);
      setCurrentDetails(
        `${describeCounts(result)} To stop it: \`run stop ${runId}\`, or its page in the console.`,
      );
      if (result.pauseMilliseconds > 0)
        await sleep(result.pauseMilliseconds, { summary: 'Keep to the rate limit' });
      if (shouldContinueAsNew()) await continueAsNew<typeof bulkRun>({ runId });
    }
  } catch (error) {
    if (!isCancellation(error)) throw error;
    const result = await CancellationScope.nonCancellable(() => stopItems(runId));
    if (result.kind !== 'ended') throw error;
    return showEnd(result);
  }
}

type Ended = RunResult & { kind: 'ended' };

function showEnd(result: Ended): Omit<Ended, 'kind'> {
  setCurrentDetails(`Ended: ${result.state}. ${describeCounts(result)}`);
  const { kind: _, ...rest } = result;
  return rest;
}

const describeCounts = ({ total, done, unneeded, refused }: RunResult): string =>
  `${done + unneeded + refused} of ${total} looked at; done: ${done}, no longer needed: ${unneeded}, refused: ${refused}.`;
