import { heartbeat } from '@temporalio/activity';

/** Well below the heartbeat time-out of workflows/options.ts. */
const EVERY_MILLISECONDS = 3_000;

/**
 * Runs a long step and says meanwhile that it is alive, so that the server notices within seconds, not minutes, when
 * the worker that ran it is gone.
 */
export async function whileBeating<T>(work: () => Promise<T>): Promise<T> {
  const timer = setInterval(heartbeat, EVERY_MILLISECONDS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
