/** Shared by workflows: the calls of activities, the messages, and the end of runs. */
import { defineSearchAttributeKey } from '@temporalio/common';
import {
  type ActivityOptions,
  CancellationScope,
  defineSignal,
  defineUpdate,
  getCurrentDetails,
  proxyActivities,
  setCurrentDetails,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities, Activity } from '../activities/activities.ts';
import type { ActivityName } from '../domain/authority/activityResults.ts';
import { DEADLINES } from '../domain/authority/deadlines.ts';
import type { SupportAnswer, SupportRequest } from '../domain/operations/supportAction.ts';
import type { SearchAttribute } from '../searchAttributes.ts';
import { SIGNALS, SUPPORT_UPDATE, TASK_QUEUES } from '../temporal.ts';

// Activities.

/** Returns the function by which workflows call an activity. */
export const activity = <N extends ActivityName>(name: N, options: ActivityOptions): Activity<N> =>
  (proxyActivities<Activities>(options) as Activities)[name];

/** Milliseconds; the SDK silently accepts malformed strings as durations. */
const SECOND = 1_000;

/** Short work on our own database, repeated until the database is back. */
export const SHORT_WORK: ActivityOptions = {
  startToCloseTimeout: DEADLINES.ownAttempt,
  retry: { initialInterval: 0.5 * SECOND, backoffCoefficient: 2, maximumInterval: 30 * SECOND },
};

/** Work on many rows of our own database, with heartbeats; repeated like SHORT_WORK. */
export const LONG_WORK: ActivityOptions = {
  ...SHORT_WORK,
  startToCloseTimeout: DEADLINES.ownLongAttempt,
  heartbeatTimeout: DEADLINES.heartbeatTimeout,
};

/**
 * Calls to the authority, repeated for as long as it takes. The activities set the pauses (nextRetryDelay);
 * these intervals apply after a worker crash.
 */
export const AUTHORITY: ActivityOptions = {
  taskQueue: TASK_QUEUES.dgi,
  startToCloseTimeout: DEADLINES.authorityAttempt,
  heartbeatTimeout: DEADLINES.heartbeatTimeout,
  retry: { initialInterval: SECOND, backoffCoefficient: 2, maximumInterval: 60 * SECOND },
};

/** Calls to the authority that no CFE waits for; they have slots of their own, so that they cannot delay CFEs. */
export const OTHER_CALL: ActivityOptions = { ...AUTHORITY, taskQueue: TASK_QUEUES.calls };

/** Many queries to the authority, one after the other; queries without an answer are repeated the next day. */
export const OTHER_CALL_LONG: ActivityOptions = {
  ...OTHER_CALL,
  startToCloseTimeout: DEADLINES.ownLongAttempt,
};

/** Actions of support: a few queries to the authority, none repeated; only a worker crash repeats the action. */
export const SUPPORT_CALL: ActivityOptions = { ...AUTHORITY, startToCloseTimeout: DEADLINES.supportAttempt };

/**
 * Calls to customers' servers. Only our own failures repeat: a crashed worker, an unavailable database, a
 * receiver at its limit. An answer, or its absence, is a result.
 */
export const RECEIVER: ActivityOptions = {
  taskQueue: TASK_QUEUES.webhooks,
  startToCloseTimeout: DEADLINES.deliveryAttempt,
  heartbeatTimeout: DEADLINES.heartbeatTimeout,
  retry: { initialInterval: SECOND, backoffCoefficient: 2, maximumInterval: 30 * SECOND },
};

/** E-mails. Only our own failures repeat: an answer of the mail server, or its absence, is a result. */
export const MAIL_SERVER: ActivityOptions = {
  ...RECEIVER,
  taskQueue: TASK_QUEUES.mail,
  startToCloseTimeout: DEADLINES.mailAttempt,
};

// Messages and search attributes.

export const factsChanged = defineSignal(SIGNALS.factsChanged);
export const slotGiven = defineSignal(SIGNALS.slotGiven);
export const stepFails = defineSignal(SIGNALS.stepFails);
export const stepGoesOn = defineSignal(SIGNALS.stepGoesOn);
export const validateAgain = defineSignal(SIGNALS.validateAgain);
export const deliverAgain = defineSignal(SIGNALS.deliverAgain);
export const lookAgain = defineSignal(SIGNALS.lookAgain);

/** An update of `issueCfes` and `reportDay` while they wait for support; returns the result of the action. */
export const support = defineUpdate<SupportAnswer, [SupportRequest]>(SUPPORT_UPDATE);

export const CfeStatusAttribute = defineSearchAttributeKey('CfeStatus' satisfies SearchAttribute, 'KEYWORD');
export const StateAttribute = defineSearchAttributeKey('State' satisfies SearchAttribute, 'KEYWORD');
export const NeedsSupportAttribute = defineSearchAttributeKey(
  'NeedsSupport' satisfies SearchAttribute,
  'BOOL',
);
export const StuckReasonAttribute = defineSearchAttributeKey(
  'StuckReason' satisfies SearchAttribute,
  'KEYWORD',
);

// Runs.

/** Shows the end of a run with its counts; returns its result. */
export function showEnd<R extends { kind: 'ended'; state: string }>(
  result: R,
  counts: string,
): Omit<R, 'kind'> {
  setCurrentDetails(`Ended: ${result.state}. ${counts}`);
  const { kind: _, ...rest } = result;
  return rest;
}

/**
 * Wraps a workflow that Cancel must not stop: its work was promised, and commands end the run through the rows. The details
 * of a cancelled run say so.
 */
export const withoutCancellation =
  <I extends unknown[], R>(work: (...input: I) => Promise<R>) =>
  (...input: I): Promise<R> => {
    CancellationScope.current().cancelRequested.catch(() => {
      setCurrentDetails(`Cancel has no effect here: the promised work is done. ${getCurrentDetails()}`);
    });
    return CancellationScope.nonCancellable(() => work(...input));
  };

/** Keeps histories short enough to replay quickly. */
const MOST_EVENTS = 2_000;

/**
 * Returns whether a looping run, whose state is in the rows, must continue as a new run to keep its history short. False
 * after a cancellation, which a new run would not receive.
 */
export const shouldContinueAsNew = (): boolean =>
  (workflowInfo().continueAsNewSuggested || workflowInfo().historyLength > MOST_EVENTS) &&
  !CancellationScope.current().consideredCancelled;
