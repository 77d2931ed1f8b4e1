/** Running one server for as long as a test needs it: no restarts, no record of the run. */

import type { Guard } from './guard.ts';
import { type Command, launch } from './launch.ts';
import { type EndPlan, endProcess, type ProcessMark, waitUntil } from './processes.ts';
import { StackError } from './stackError.ts';

/** A server that runs until it is stopped, or until its guard's owner ends. */
export interface ThrowAway {
  readonly mark: ProcessMark;
  stop(): Promise<void>;
}

/** Starts a server and waits until it answers. Throws StackError when it ends before, or does not answer in time. */
export async function runThrowAway(
  command: Command,
  options: {
    name: string;
    plan: EndPlan;
    answers: () => Promise<boolean>;
    withinSeconds: number;
    guard?: Guard | undefined;
  },
): Promise<ThrowAway> {
  const { mark, ended } = launch(command);
  let end: string | undefined;
  void ended.then((how) => (end = how));
  if (!mark) throw new StackError(`${options.name} ${await ended}.`);
  options.guard?.add({ mark, plan: options.plan, order: 0 });
  const stop = async (): Promise<void> => {
    await endProcess(mark, options.plan);
    options.guard?.drop(mark);
  };
  const settled = await waitUntil(
    async () => end !== undefined || (await options.answers()),
    options.withinSeconds * 1000,
  );
  if (settled && end === undefined) return { mark, stop };
  await stop();
  throw new StackError(
    `${options.name} ${end ?? `did not answer within ${options.withinSeconds} s`}; see ${command.logFile}.`,
  );
}
