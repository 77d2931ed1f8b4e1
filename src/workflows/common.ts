/** What workflows share: how their activities are called, the messages to them, and how they end. */
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
import type { ActivityName } from '../domain/activityResults.ts';
import { DEADLINES } from '../domain/deadlines.ts';
import type { SupportAnswer, SupportRequest } from '../domain/supportAction.ts';
import type { SearchAttribute } from '../searchAttributes.ts';
import { SIGNALS, SUPPORT_UPDATE, TASK_QUEUES } from '../temporal.ts';

// Activities.

/** An activity as workflows call it. */
export const activity = <N extends ActivityName>(name: N, options: ActivityOptions): Activity<N> =>
  (proxyActivities<Activities>(options) as Activities)[name];

/** Milliseconds; the SDK takes wrong strings for durations in silence. */
const SECOND = 1_000;

/** Work on our own database: short, and repeated until the database is back. */
export const OWN: ActivityOptions = {
  startToCloseTimeout: DEADLINES.ownAttempt,
  retry: { initialInterval: 0.5 * SECOND, backoffCoefficient: 2, maximumInterval: 30 * SECOND },
};

/** Work on our own database that goes through many rows: it says that it is alive, and is repeated like the short one. */
export const OWN_LONG: ActivityOptions = {
  ...OWN,
  startToCloseTimeout: DEADLINES.ownLongAttempt,
  heartbeatTimeout: DEADLINES.heartbeatTimeout,
};

/**
 * Calls to the authority, repeated for as long as it takes. The activities themselves say when (nextRetryDelay); these
 * intervals serve where a worker dies.
 */
export const AUTHORITY: ActivityOptions = {
  taskQueue: TASK_QUEUES.dgi,
  startToCloseTimeout: DEADLINES.authorityAttempt,
  heartbeatTimeout: DEADLINES.heartbeatTimeout,
  retry: { initialInterval: SECOND, backoffCoefficient: 2, maximumInterval: 60 * SECOND },
};

/** The same for whatever is no CFE on its way: it has places of its own, however many or slow it is. */
export const OTHER_CALL: ActivityOptions = { ...AUTHORITY, taskQueue: TASK_QUEUES.calls };

/** Many questions to the authority, one after the other; those that bring no answer are left for another day. */
export const OTHER_CALL_LONG: ActivityOptions = {
  ...OTHER_CALL,
  startToCloseTimeout: DEADLINES.ownLongAttempt,
};

/** What support asks for: a few questions to the authority, none of them repeated; a lost worker's act is. */
export const SUPPORT_CALL: ActivityOptions = { ...AUTHORITY, startToCloseTimeout: DEADLINES.supportAttempt };

/**
 * Calls to customers' servers. What repeats is only what is ours: a worker that died, a database that is away, a
 * receiver that is busy with other deliveries. An answer, or none, is a result.
 */
export const RECEIVER: ActivityOptions = {
  taskQueue: TASK_QUEUES.webhooks,
  startToCloseTimeout: DEADLINES.deliveryAttempt,
  heartbeatTimeout: DEADLINES.heartbeatTimeout,
  retry: { initialInterval: SECOND, backoffCoefficient: 2, maximumInterval: 30 * SECOND },
};

/** E-mails. As with receivers, what repeats is only what is ours: an answer of the mail server, or none, is a result. */
export const MAIL_SERVER: ActivityOptions = {
  ...RECEIVER,
  taskQueue: TASK_QUEUES.mail,
  startToCloseTimeout: DEADLINES.mailAttempt,
};

// Messages, and what the list of runs shows.

export const factsChanged = defineSignal(SIGNALS.factsChanged);
export const slotGiven = defineSignal(SIGNALS.slotGiven);
export const stepFails = defineSignal(SIGNALS.stepFails);
export const stepGoesOn = defineSignal(SIGNALS.stepGoesOn);
export const validateAgain = defineSignal(SIGNALS.validateAgain);
export const deliverAgain = defineSignal(SIGNALS.deliverAgain);
export const lookAgain = defineSignal(SIGNALS.lookAgain);

/** To `issueCfes` and `reportDay` while it waits for support. Answers what really happened. */
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

/**
 * A workflow that Cancel does nothing to: what it is to do was promised, and ends by the rows, for which there are commands.
 * Whoever cancels it is told so in its details.
 */
export const withoutCancellation =
  <I extends unknown[], R>(work: (...input: I) => Promise<R>) =>
  (...input: I): Promise<R> => {
    CancellationScope.current().cancelRequested.catch(() => {
      setCurrentDetails(`Cancel does nothing here: what is promised is done. ${getCurrentDetails()}`);
    });
    return CancellationScope.nonCancellable(() => work(...input));
  };

/** Few enough to be read again in no time. */
const MOST_EVENTS = 2_000;

/**
 * Whether a run that loops is to go on as a new one, so that its history stays short: what it knows is in the rows. Not
 * once somebody has cancelled it, for the new run would not hear of that.
 */
export const shouldContinueAsNew = (): boolean =>
  (workflowInfo().continueAsNewSuggested || workflowInfo().historyLength > MOST_EVENTS) &&
  !CancellationScope.current().consideredCancelled;
