import {
  CancellationScope,
  continueAsNew,
  isCancellation,
  setCurrentDetails,
  sleep,
} from '@temporalio/workflow';
import type { RunResult } from '../domain/authority/activityResults.ts';
import { activity, LONG_WORK, SHORT_WORK, shouldContinueAsNew, showEnd } from './common.ts';

const actOnItems = activity('actOnItems', {
  ...LONG_WORK,
  // By default the SDK would not wait for items in progress, which the end of the run must count.
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
 * Acts on the items of a bulk run (docs/operations.md#bulk-runs), batch after batch. Ends with `DONE` or `STOPPED` and the
 * counts. When cancelled, the run finishes the items in progress, starts no other and ends STOPPED.
 */
export async function bulkRun({ runId }: BulkRunInput): Promise<Omit<Ended, 'kind'>> {
  setCurrentDetails('Started.');
  try {
    for (;;) {
      const result = await actOnItems(runId);
      if (result.kind === 'ended') return showEnd(result, describeCounts(result));
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
    return showEnd(result, describeCounts(result));
  }
}

type Ended = RunResult & { kind: 'ended' };

const describeCounts = ({ total, done, unneeded, refused }: RunResult): string =>
  `${done + unneeded + refused} of ${total} looked at; done: ${done}, no longer needed: ${unneeded}, refused: ${refused}.`;
