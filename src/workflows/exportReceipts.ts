import { CancellationScope, continueAsNew, isCancellation, setCurrentDetails } from '@temporalio/workflow';
import type { ExportCounts, ExportResult } from '../domain/activityResults.ts';
import { activity, OWN, OWN_LONG, shouldContinueAsNew } from './common.ts';

const writeExport = activity('writeExport', {
  ...OWN_LONG,
  // What ends the run counts what is done: nothing may go on beside it. The SDK would not wait.
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  summary: 'Put the next receipts of the month into the file',
});
const stopExport = activity('stopExport', { ...OWN, summary: 'Give the file up' });

export interface ExportReceiptsInput {
  exportId: string;
}

/**
 * Makes the file with a month's receipts that somebody asked for (docs/console.md#a-months-receipts), in turns of some seconds.
 * Ends with `DONE` or `STOPPED` and the counts. Cancelled, it gives the file up.
 */
export async function exportReceipts({ exportId }: ExportReceiptsInput): Promise<Omit<Ended, 'kind'>> {
  setCurrentDetails('Begins.');
  try {
    for (;;) {
      const result = await writeExport(exportId);
      if (result.kind === 'ended') return ended(result);
      setCurrentDetails(`${wordsOf(result)} To stop it: its row in the console, or cancel this run.`);
      if (shouldContinueAsNew()) await continueAsNew<typeof exportReceipts>({ exportId });
    }
  } catch (error) {
    if (!isCancellation(error)) throw error;
    const result = await CancellationScope.nonCancellable(() => stopExport(exportId));
    if (result.kind !== 'ended') throw error;
    return ended(result);
  }
}

type Ended = ExportResult & { kind: 'ended' };

function ended(result: Ended): Omit<Ended, 'kind'> {
  setCurrentDetails(`Ended: ${result.state}. ${wordsOf(result)}`);
  const { kind: _, ...rest } = result;
  return rest;
}

const wordsOf = ({ total, done, leftOut }: ExportCounts): string =>
  `${done} of ${total} receipts looked at; left out: ${leftOut}.`;
