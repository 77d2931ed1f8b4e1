import { AsyncLocalStorage } from 'node:async_hooks';
import { activityInfo, heartbeat } from '@temporalio/activity';
import { DEADLINES } from '../../domain/deadlines.ts';

/** What a step is at, as the pending activity shows it. */
type Phase = 'signing' | 'sending' | 'asking';

const beating = new AsyncLocalStorage<{ phase?: Phase }>();

const beat = (details: unknown, { phase }: { phase?: Phase }): void =>
  heartbeat(phase === undefined ? details : { ...(details as object | undefined), phase });

/**
 * Runs a long step and says meanwhile that it is alive, so that the server notices within seconds, not minutes, when
 * the worker that ran it is gone. With each word it leaves `details` to the next attempt; unless told, what an attempt before
 * has left stays.
 */
export async function whileBeating<T>(
  work: () => Promise<T>,
  details: () => unknown = () => activityInfo().heartbeatDetails,
): Promise<T> {
  const told: { phase?: Phase } = {};
  const timer = setInterval(() => beat(details(), told), DEADLINES.heartbeatEvery);
  try {
    return await beating.run(told, work);
  } finally {
    clearInterval(timer);
  }
}

/** Shows from the next heartbeat on what the step is at. */
export function tellPhase(phase: Phase): void {
  const told = beating.getStore();
  if (told) told.phase = phase;
}
