/**
 * Points between two effects on a CFE's way where tests kill the process, to prove that nothing is lost or
 * done twice. They can be armed in test mode only; an unarmed one costs one comparison.
 */
import { writeSync } from 'node:fs';
import { ConfigurationError, readConfig, type Variables } from './config.ts';

/** Every point, in the order of a CFE's way, with the programs that pass it. */
export const FAILPOINTS = {
  /** Before the request is checked; nothing is stored. */
  'issue.begun': ['api'],
  /** The request is checked; the one statement that takes the number and stores the CFE is next. */
  'issue.judged': ['api'],
  /** The CFE is committed; the outbox is not dispatched yet. */
  'issue.stored': ['api'],
  /** Other requests with an Idempotency-Key: written and not committed; then committed and not dispatched. */
  'request.written': ['api'],
  'request.committed': ['api'],
  /** Only the answer is missing. */
  'request.answering': ['api'],
  /** The verdict that the caller waits for is stored; the answer is not kept yet. */
  'wait.decided': ['api'],
  /** The answer is kept for repeats, and not sent yet. */
  'wait.kept': ['api'],
  /** A message is leased; Temporal is called next. */
  'dispatch.taken': ['api', 'worker'],
  /** Temporal has the message; it is not marked. */
  'dispatch.told': ['api', 'worker'],
  /** The mark is committed. */
  'dispatch.marked': ['api', 'worker'],
  /**
   * Waiting CFEs have a sobre, or a waiting sobre has a slot, within the open transaction; then stored. Its
   * run is not notified.
   */
  'gate.called': ['worker'],
  'gate.calledStored': ['worker'],
  /** The CFEs of a sobre are signed; nothing of it is stored. */
  'sobre.signed': ['worker'],
  /** Their signatures and the bytes of the sobre are stored. */
  'sobre.stored': ['worker'],
  /** A sobre is ended unsent and its CFEs are free for others, within the open transaction. */
  'sobre.ended': ['worker'],
  /** A sobre is dissolved because some of its CFEs go apart; no run is notified. */
  'sobre.dissolved': ['worker'],
  /**
   * A waiting CFE that cannot be signed gets a sobre of its own, within the open transaction; then stored.
   * Its run is not notified.
   */
  'apart.opened': ['worker'],
  'apart.stored': ['worker'],
  /** CFEs that are never sent are signed, and nothing of it is stored; then stored as accepted, and not committed. */
  'reported.signed': ['worker'],
  'reported.written': ['worker'],
  /** A receipt of a test run, and its place in the run, are committed. */
  'homologation.issued': ['worker'],
  /** The sobre has a permit, or waits for one. */
  'gate.entered': ['worker'],
  /** The intent to send is stored; nothing was sent. */
  'send.marked': ['worker'],
  /** The authority has answered the sobre; the answer is not stored. */
  'send.answered': ['worker'],
  /** The send had no answer; the sobre waits if the breaker is open. */
  'gate.failed': ['worker'],
  /** After an unclear send: the authority has answered whether it has the sobre; that is not stored. */
  'send.found': ['worker'],
  /** The authority has answered the question for verdicts. */
  'ask.answered': ['worker'],
  /**
   * The receipt of the sobre, or its verdicts, and their consequences are stored; Temporal is not notified.
   */
  'moves.stored': ['worker'],
  /** The action of support is written with its audit entry, and not committed; then committed. */
  'support.written': ['worker'],
  'support.stored': ['worker'],
  /** A day is read and summed up; nothing of its report is stored. */
  'report.read': ['worker'],
  /** The report is stored with its sequence and number. */
  'report.stored': ['worker'],
  /** The intent to send it is stored; nothing was sent. */
  'report.sendingStored': ['worker'],
  /** The authority has answered it; the answer is not stored. */
  'report.answered': ['worker'],
  'report.answerStored': ['worker'],
  /** After an unclear send: the authority has answered whether it has the report; that is not stored. */
  'report.found': ['worker'],
  /** The authority has given its result on the report; that is not stored. */
  'report.asked': ['worker'],
  /** The customer's server is called next. */
  'deliver.sending': ['worker'],
  /** It has answered; the attempt is not stored. */
  'deliver.sent': ['worker'],
  'deliver.stored': ['worker'],
  /** The mail server is called next. */
  'mail.sending': ['worker'],
  /** It has answered; the attempt is not stored. */
  'mail.sent': ['worker'],
  'mail.stored': ['worker'],
} as const satisfies Readonly<Record<string, readonly ('api' | 'worker')[]>>;

export type Failpoint = keyof typeof FAILPOINTS;

/** The armed points; null without any, as everywhere outside tests. */
let armed: ReadonlySet<string> | null = null;

/**
 * Arms the points of CFE_FAILPOINTS; every program calls it first. Throws ConfigurationError outside test
 * mode (CFE_TEST_MODE) and for an unknown name.
 */
export function armFailpoints(source?: Variables): void {
  const { CFE_FAILPOINTS: names, CFE_TEST_MODE: isTest } = readConfig(
    ['CFE_FAILPOINTS', 'CFE_TEST_MODE'],
    source,
  );
  if (names.length === 0) return;
  if (!isTest) {
    const message =
      'CFE_FAILPOINTS is set: failpoints kill the process and are for tests only, where CFE_TEST_MODE is true. Remove it.';
    throw new ConfigurationError(message);
  }
  const unknown = names.filter((name) => !Object.hasOwn(FAILPOINTS, name));
  if (unknown.length > 0)
    throw new ConfigurationError(`CFE_FAILPOINTS names ${unknown.join(', ')}; no such point exists.`);
  armed = new Set(names);
}

/** Kills this process, without any cleanup, if the point is armed. */
export function failpoint(name: Failpoint): void {
  if (armed?.has(name)) die(name);
}

function die(name: Failpoint): void {
  // Not by the logger, which may not write before the process dies.
  writeSync(process.stderr.fd, `failpoint ${name}\n`);
  process.kill(process.pid, 'SIGKILL');
}
