import { defineSearchAttributeKey } from '@temporalio/common';
import type { ActivityOptions } from '@temporalio/workflow';
import { DEADLINES } from '../domain/deadlines.ts';
import type { SearchAttribute } from '../searchAttributes.ts';
import { TASK_QUEUES } from '../temporal.ts';

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
export const SUPPORT: ActivityOptions = { ...AUTHORITY, startToCloseTimeout: DEADLINES.supportAttempt };

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
