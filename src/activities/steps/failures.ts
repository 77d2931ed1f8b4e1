import { ApplicationFailure } from '@temporalio/activity';

/**
 * Longest pause between two attempts at an authority that cannot be reached (docs/contract.md#waiting-for-the-authority).
 */
const LONGEST_PAUSE_SECONDS = 60;
/**
 * How often an undecided authority is asked again (docs/contract.md#waiting-for-the-authority), in seconds: up to the first
 * of each pair, counted from when it could first be asked, after the second.
 */
const POLL_SECONDS: readonly (readonly [until: number, pause: number])[] = [
  [1, 1],
  [3, 2],
  [8, 5],
  [18, 10],
  [48, 30],
  [600, 60],
  [3_600, 300],
];
const LAST_POLL_SECONDS = 900;

/** A report that gave way to CFEs looks again after so long, and up to as much more at random. */
const AFTER_CFES_MILLISECONDS = 5_000;

/**
 * The authority cannot be reached, or surely did not take the request: the attempt fails and Temporal repeats it
 * after 1 s, doubling to 60 s, each pause shortened by up to a fifth at random.
 */
export function unreachable(attempt: number, what: string): ApplicationFailure {
  const seconds = Math.min(2 ** Math.min(attempt - 1, 10), LONGEST_PAUSE_SECONDS);
  return ApplicationFailure.create({
    type: 'AuthorityUnreachable',
    message: `The authority cannot be reached (${what}); it is tried again by itself.`,
    nextRetryDelay: Math.round(seconds * 1_000 * (1 - Math.random() / 5)),
  });
}

/** Pause before a question that the authority refuses is asked once more: a person has to mend something meanwhile. */
const REFUSED_MILLISECONDS = 3_600_000;

/** The authority does not answer this question of this company; nothing else waits for it. It is asked again in an hour. */
export function refused(reason: string): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'AuthorityRefuses',
    message: `The authority refuses to answer (${reason}); it is asked again by itself, every hour.`,
    nextRetryDelay: REFUSED_MILLISECONDS,
  });
}

/** The authority is away, and this CFE is the prober: it looks again in so many milliseconds. */
export function untilProbe(milliseconds: number): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'AuthorityUnreachable',
    message: 'The authority cannot be reached; this sobre probes it for all that wait.',
    nextRetryDelay: Math.max(1, milliseconds),
  });
}

/** The authority has no verdict yet: asked again after `waitMilliseconds`. Not a failure in logs and metrics. */
export function notYet(message: string, waitMilliseconds: number): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'NotYet',
    category: 'BENIGN',
    message,
    nextRetryDelay: Math.max(1, Math.round(waitMilliseconds)),
  });
}

/** CFEs are sent first: the report takes its turn a little later. Not a failure in logs and metrics. */
export function afterCfes(): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'CfesFirst',
    category: 'BENIGN',
    message: 'CFEs are sent before this report; it waits for a free slot.',
    nextRetryDelay: Math.round(AFTER_CFES_MILLISECONDS * (1 + Math.random())),
  });
}

/** Milliseconds until the next question for a verdict, where the first could be asked so long ago. */
export function pollPause(sinceMilliseconds: number, longestSeconds: number): number {
  const row = POLL_SECONDS.find(([until]) => sinceMilliseconds < until * 1_000);
  return Math.min(row?.[1] ?? LAST_POLL_SECONDS, longestSeconds) * 1_000;
}
