import { CancellationScope, continueAsNew, isCancellation, setCurrentDetails } from '@temporalio/workflow';
import type { ExportCounts, ExportResult } from '../domain/authority/activityResults.ts';
import { activity, LONG_WORK, SHORT_WORK, shouldContinueAsNew, showEnd } from './common.ts';

const writeExport = activity('writeExport', {
  ...LONG_WORK,
  // By default the SDK would not wait for a receipt in progress, which the end of the run must count.
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  summary: 'Put the next receipts of the month into the file',
});
const stopExport = activity('stopExport', { ...SHORT_WORK, summary: 'Stop the export' });

export interface ExportReceiptsInput {
  exportId: string;
}

/**
 * Writes a requested file with a month's receipts (docs/console.md#a-months-receipts), in slots of some
 * seconds. Ends with `DONE` or `STOPPED` and the counts. When cancelled, the workflow stops the export and deletes the file.
 */
export async function exportReceipts({ exportId }: ExportReceiptsInput): Promise<Omit<Ended, 'kind'>> {
  setCurrentDetails('Started.');
  try {
    for (;;) {
      const result = await writeExport(exportId);
      if (result.kind === 'ended') return showEnd(result, describeCounts(result));
      setCurrentDetails(`${describeCounts(result)} To stop it: its row in the console, or cancel this run.`);
      if (shouldContinueAsNew()) await continueAsNew<typeof exportReceipts>({ exportId });
    }
  } catch (error) {
    if (!isCancellation(error)) throw error;
    const result = await CancellationScope.nonCancellable(() => stopExport(exportId));
    if (result.kind !== 'ended') throw error;
    return showEnd(result, describeCounts(result));
  }
}

type Ended = ExportResult & { kind: 'ended' };

const describeCounts = ({ total, done, leftOut }: ExportCounts): string =>
  `${done} of ${total} receipts looked at; left out: ${leftOut}.`;
