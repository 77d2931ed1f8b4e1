import { activityInfo, heartbeat } from '@temporalio/activity';
import { DEADLINES } from '../../domain/deadlines.ts';

/**
 * Runs a long step and says meanwhile that it is alive, so that the server notices within seconds, not minutes, when
 * the worker that ran it is gone. What an attempt before has left with its heartbeats stays.
 */
export async function whileBeating<T>(work: () => Promise<T>): Promise<T> {
  const timer = setInterval(() => heartbeat(activityInfo().heartbeatDetails), DEADLINES.heartbeatEvery);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
