import { CancellationScope, workflowInfo } from '@temporalio/workflow';

/** Few enough to be read again in no time. */
const MOST_EVENTS = 2_000;

/**
 * Whether a run that loops is to go on as a new one, so that its history stays short: what it knows is in the rows. Not
 * once somebody has cancelled it, for the new run would not hear of that.
 */
export const goesOnAsNew = (): boolean =>
  (workflowInfo().continueAsNewSuggested || workflowInfo().historyLength > MOST_EVENTS) &&
  !CancellationScope.current().consideredCancelled;
