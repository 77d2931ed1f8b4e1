/**
 * Points between two effects on a CFE's way, at which a test kills the process, to prove that nothing is lost or done
 * twice there. They can be armed in test mode only; an unarmed one costs one comparison.
 */
import { writeSync } from 'node:fs';
import { ConfigurationError, readConfig, type Variables } from './config.ts';

/** Every point, in the order of a CFE's way, with the programs that pass it. */
export const FAILPOINTS = {
  /** The request is checked next; nothing is stored. */
  'issue.begun': ['api'],
  /** Everything is judged; the one statement that takes the number and stores the CFE comes next. */
  'issue.judged': ['api'],
  /** It is committed; the outbox is not dispatched yet. */
  'issue.stored': ['api'],
  /** Other requests with an Idempotency-Key: all is written, not committed; then committed, and not dispatched. */
  'request.written': ['api'],
  'request.committed': ['api'],
  /** Only the answer is left. */
  'request.answering': ['api'],
  /** The verdict that the caller waits for is stored; the answer is not kept yet. */
  'wait.decided': ['api'],
  /** The answer is kept for repeats, not given yet. */
  'wait.kept': ['api'],
  /** A message is locked; Temporal is told next. */
  'dispatch.taken': ['api', 'worker'],
  /** Temporal was told; the message is not marked. */
  'dispatch.told': ['api', 'worker'],
  /** The mark is committed. */
  'dispatch.marked': ['api', 'worker'],
  /** A sobre of CFEs that wait is made, or one that waits gets its slot, within the open transaction; its run is not told. */
  'gate.called': ['worker'],
  'gate.calledStored': ['worker'],
  /** The CFEs of a sobre are signed; nothing of it is stored. */
  'sobre.signed': ['worker'],
  /** Their signatures and the bytes of the sobre are stored. */
  'sobre.stored': ['worker'],
  /** A sobre that does not go is ended, and its CFEs are free for others, within the open transaction. */
  'sobre.ended': ['worker'],
  /** It is stored that one is dissolved, for some of its CFEs go apart; nobody is told. */
  'sobre.dissolved': ['worker'],
  /** A CFE that waits and cannot be signed gets a sobre to itself, within the open transaction; then stored, its run not told. */
  'apart.opened': ['worker'],
  'apart.stored': ['worker'],
  /** The sobre has leave to be sent, or waits for it. */
  'gate.entered': ['worker'],
  /** The intent to send is stored; nothing was sent. */
  'send.marked': ['worker'],
  /** The authority has answered the sobre; the answer is not stored. */
  'send.answered': ['worker'],
  /** The send had no answer; the sobre waits if the authority counts as away. */
  'gate.failed': ['worker'],
  /** After an unclear send: the authority has said what became of the sobre; that is not stored. */
  'send.found': ['worker'],
  /** The authority has answered the question for verdicts. */
  'ask.answered': ['worker'],
  /** That it has the sobre, or its verdicts, and what follows from them are stored; Temporal knows nothing of it. */
  'moves.stored': ['worker'],
  /** What support asked for is written, with its audit entry, not committed. */
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
  /** After an unclear send: the authority has said what became of it; that is not stored. */
  'report.found': ['worker'],
  /** It has said what it made of the report; that is not stored. */
  'report.asked': ['worker'],
  /** The customer's server is called next. */
  'deliver.sending': ['worker'],
  /** It has answered; the attempt is not stored. */
  'deliver.sent': ['worker'],
  'deliver.stored': ['worker'],
  /** The mail server is told next. */
  'mail.sending': ['worker'],
  /** It has taken the e-mail, or not; the attempt is not stored. */
  'mail.sent': ['worker'],
  'mail.stored': ['worker'],
} as const satisfies Readonly<Record<string, readonly ('api' | 'worker')[]>>;

export type Failpoint = keyof typeof FAILPOINTS;

/** The armed points; null where none is, as everywhere outside tests. */
let armed: ReadonlySet<string> | null = null;

/**
 * Arms the points that CFE_FAILPOINTS names; every program calls it before it does anything else. Throws
 * ConfigurationError outside test mode (CFE_TEST_MODE) and where a name is no point.
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
    throw new ConfigurationError(`CFE_FAILPOINTS names ${unknown.join(', ')}; no point is called so.`);
  armed = new Set(names);
}

/** Kills this process, without a word to anybody, where the point is armed. */
export function failpoint(name: Failpoint): void {
  if (armed?.has(name)) die(name);
}

function die(name: Failpoint): void {
  // Past the logger, which may not have written yet when the process is gone.
  writeSync(process.stderr.fd, `failpoint ${name}\n`);
  process.kill(process.pid, 'SIGKILL');
}
