import { defineSearchAttributeKey } from '@temporalio/common';
import type { ActivityOptions } from '@temporalio/workflow';

/** Milliseconds; the SDK takes wrong texts for durations in silence. */
const SECOND = 1_000;

/** Work on our own database: short, and repeated until the database is back. */
export const OWN: ActivityOptions = {
  startToCloseTimeout: 20 * SECOND,
  retry: { initialInterval: 0.5 * SECOND, backoffCoefficient: 2, maximumInterval: 30 * SECOND },
};

/** Work on our own database that goes through many rows: it says that it is alive, and is repeated like the short one. */
export const OWN_LONG: ActivityOptions = {
  ...OWN,
  startToCloseTimeout: 3_600 * SECOND,
  heartbeatTimeout: 10 * SECOND,
};

/**
 * Calls to the authority: an attempt holds two calls of at most CFE_DGI_ANSWER_SECONDS as a rule; one that needs more and
 * runs out of time is repeated. Repeated for as long as it takes; the activities themselves say when (nextRetryDelay),
 * these intervals serve where a worker dies.
 */
export const AUTHORITY: ActivityOptions = {
  taskQueue: 'dgi',
  startToCloseTimeout: 180 * SECOND,
  heartbeatTimeout: 10 * SECOND,
  retry: { initialInterval: SECOND, backoffCoefficient: 2, maximumInterval: 60 * SECOND },
};

/** What support asks for: a few questions to the authority, none of them repeated; a lost worker's act is. */
export const SUPPORT: ActivityOptions = { ...AUTHORITY, startToCloseTimeout: 400 * SECOND };

/**
 * Calls to customers' servers: one attempt takes at most 15 s for the answer and 2 s for its body. What repeats is only
 * what is ours: a worker that died, a database that is away, a receiver that is busy with other deliveries. An answer,
 * or none, is a result.
 */
export const RECEIVER: ActivityOptions = {
  taskQueue: 'webhooks',
  startToCloseTimeout: 40 * SECOND,
  heartbeatTimeout: 10 * SECOND,
  retry: { initialInterval: SECOND, backoffCoefficient: 2, maximumInterval: 30 * SECOND },
};

export const CfeStatusAttribute = defineSearchAttributeKey('CfeStatus', 'KEYWORD');
export const NeedsSupportAttribute = defineSearchAttributeKey('NeedsSupport', 'BOOL');
export const StuckReasonAttribute = defineSearchAttributeKey('StuckReason', 'KEYWORD');
