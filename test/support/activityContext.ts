import { setTimeout as sleep } from 'node:timers/promises';
import { asyncLocalStorage, type Context } from '@temporalio/activity';

/** Runs an activity outside a worker: as its second attempt unless told, with a server that hears its heartbeats. */
export const asActivity = <T>(work: () => Promise<T>, { attempt } = { attempt: 2 }): Promise<T> => {
  const context = {
    info: { attempt },
    heartbeat: () => {},
    log: { warn: () => {}, error: () => {} },
    sleep: (milliseconds: number) => sleep(milliseconds),
  };
  return asyncLocalStorage.run(context as unknown as Context, work);
};
