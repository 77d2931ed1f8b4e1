import {
  CancellationScope,
  condition,
  continueAsNew,
  isCancellation,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import type { TestRunEnd } from '../domain/authority/activityResults.ts';
import type { TestRunStatus } from '../domain/enterprises/homologation.ts';
import { activity, LONG_WORK, lookAgain, SHORT_WORK, StateAttribute, shouldContinueAsNew } from './common.ts';

const issueTestReceipts = activity('issueTestReceipts', {
  ...LONG_WORK,
  // By default the SDK would not wait, and receipts could be issued after the end of the run.
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  summary: 'Issue the next receipts; count the verdicts',
});
const reportTestRun = activity('reportTestRun', {
  ...LONG_WORK,
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  summary: 'Send the report of the day; see whether the authority has it',
});
const stopTestRun = activity('stopTestRun', { ...SHORT_WORK, summary: 'Stop the run' });

/** Pauses while verdicts or the report are awaited. */
const FIRST_LOOK = 1_000;
const LOOKS_GROW_BY = 1.5;
const LONGEST_LOOK = 60_000;

export interface HomologationInput {
  rut: string;
  /** The signing day of all receipts, in Montevideo. */
  date: string;
}

/**
 * Takes the test run of an enterprise and a day from its receipts to the report (docs/contract.md#test-run); the
 * rows have its state. Continues with a run that starts while this one ends. When cancelled, the workflow stops the run.
 */
export async function homologation(key: HomologationInput): Promise<{ status: TestRunStatus }> {
  let isSignalled = false;
  let rounds = 0;
  let lastProgress = -1;
  setHandler(lookAgain, () => {
    isSignalled = true;
  });
  const pause = async (progress: number): Promise<void> => {
    rounds = progress === lastProgress ? rounds + 1 : 0;
    lastProgress = progress;
    const milliseconds = Math.min(Math.round(FIRST_LOOK * LOOKS_GROW_BY ** rounds), LONGEST_LOOK);
    await condition(() => isSignalled, milliseconds, { summary: 'Look again' });
  };
  try {
    for (;;) {
      if (shouldContinueAsNew()) await continueAsNew<typeof homologation>(key);
      isSignalled = false;
      const result = await issueTestReceipts(key);
      if (result.kind === 'goesOn') {
        const { received, rejected, wanted, canIssue } = result;
        show('RUNNING', `${received} of ${wanted} received, ${rejected} rejected.`);
        if (!canIssue) await pause(received + rejected);
        continue;
      }
      const { received, rejected } = result.kind === 'reports' ? result : { received: 0, rejected: 0 };
      const reported = result.kind === 'reports' ? await reportTestRun(key) : result;
      if (reported.kind === 'waits') {
        show('REPORTING', `${received} received, ${rejected} rejected. Waiting for the report.`);
        await pause(-2);
      } else if (!isSignalled) return showEnd(reported);
    }
  } catch (error) {
    if (!isCancellation(error)) throw error;
    return showEnd(await CancellationScope.nonCancellable(() => stopTestRun(key)));
  }
}

function show(status: TestRunStatus, details: string): void {
  upsertSearchAttributes([{ key: StateAttribute, value: status }]);
  setCurrentDetails(`${details} To stop it: \`homologation stop\`, its page in the console, or Cancel.`);
}

function showEnd({ status }: TestRunEnd): { status: TestRunStatus } {
  upsertSearchAttributes([{ key: StateAttribute, value: status }]);
  setCurrentDetails(`Ended: ${status}.`);
  return { status };
}
