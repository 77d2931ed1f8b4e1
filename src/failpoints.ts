/**
 * Points between two effects of a CFE's way, at which a test kills the process: the proof that nothing is lost or done
 * twice there. They can be armed in test mode only; an unarmed one costs a comparison.
 */
import { writeSync } from 'node:fs';
import { ConfigurationError, type Environment, readConfig } from './config.ts';

/** Every point, in the order of a CFE's way, with the programs that pass it. */
export const FAILPOINTS = {
  /** The request is judged next; nothing is stored. */
  'issue.begun': ['api'],
  /** The number is taken, within the open transaction. */
  'issue.numbered': ['api'],
  /** All of the request is written, and not committed. */
  'request.written': ['api'],
  /** Committed; the outbox is not looked at yet. */
  'request.committed': ['api'],
  /** Nothing is left to do but to answer. */
  'request.answering': ['api'],
  /** The verdict that the caller waits for is there; the answer is not kept yet. */
  'wait.settled': ['api'],
  /** The answer is kept for repeats, and not given yet. */
  'wait.kept': ['api'],
  /** A message is locked; Temporal is told next. */
  'dispatch.taken': ['api', 'worker'],
  /** Temporal was told; the message is not marked. */
  'dispatch.told': ['api', 'worker'],
  /** The mark is committed. */
  'dispatch.marked': ['api', 'worker'],
  /** The XML is signed, and not stored. */
  'sign.signed': ['worker'],
  'sign.stored': ['worker'],
  /** The sobre has its Idemisor, within the open transaction. */
  'submit.numbered': ['worker'],
  'submit.sobreStored': ['worker'],
  /** The CFE has its slot, or stands among those that wait for their turn. */
  'gate.entered': ['worker'],
  /** The intent to send is stored; nothing was sent. */
  'submit.sendingStored': ['worker'],
  /** The authority has answered the sobre; the answer is not stored. */
  'submit.answered': ['worker'],
  /** The send had no answer; the CFE waits for its turn where the authority counts as away. */
  'gate.failed': ['worker'],
  /** A CFE that waits is let through, within the open transaction; nobody has called it. */
  'gate.called': ['worker'],
  'gate.calledStored': ['worker'],
  /** After an unknown outcome: the authority has told what became of the sobre; that is not stored. */
  'submit.found': ['worker'],
  'submit.receivedStored': ['worker'],
  /** The refusal stands with the sobre, and not with the CFE yet. */
  'submit.refusalStored': ['worker'],
  /** The authority has answered the question for the verdict. */
  'await.answered': ['worker'],
  /** Verdict and what follows from it are written, and not committed. */
  'settle.written': ['worker'],
  'settle.committed': ['worker'],
  /** What support asked for is written, with its audit, and not committed. */
  'support.written': ['worker'],
  'support.stored': ['worker'],
  /** The customer's server is spoken to next. */
  'deliver.sending': ['worker'],
  /** It has answered; the attempt is not stored. */
  'deliver.sent': ['worker'],
  'deliver.stored': ['worker'],
} as const satisfies Readonly<Record<string, readonly ('api' | 'worker')[]>>;

export type Failpoint = keyof typeof FAILPOINTS;

/** The armed points; null, as everywhere outside tests: none is. */
let armed: ReadonlySet<string> | null = null;

/**
 * Arms the points that CFE_FAILPOINTS names; every program calls it before it does anything else. Throws
 * ConfigurationError outside test mode (CFE_TEST_MODE) and where a name is no point.
 */
export function armFailpoints(source?: Environment): void {
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
