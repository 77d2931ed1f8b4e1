import { setTimeout as sleep } from 'node:timers/promises';
import { asyncLocalStorage, type Context } from '@temporalio/activity';

interface Attempt {
  readonly attempt: number;
  /** What the attempt before has left, and who hears what this one leaves. */
  readonly heartbeatDetails?: unknown;
  readonly heartbeat?: (details: unknown) => void;
  readonly cancellationSignal?: AbortSignal;
}

/** Runs an activity outside a worker: as its second attempt unless told, with a server that hears its heartbeats. */
export const asActivity = <T>(
  work: () => Promise<T>,
  {
    attempt,
    heartbeatDetails,
    heartbeat = () => {},
    cancellationSignal = new AbortController().signal,
  }: Attempt = { attempt: 2 },
): Promise<T> => {
  const context = {
    info: { attempt, heartbeatDetails },
    heartbeat,
    cancellationSignal,
    log: { warn: () => {}, error: () => {} },
    sleep: (milliseconds: number) => sleep(milliseconds),
  };
  return asyncLocalStorage.run(context as unknown as Context, work);
};
