import {
  ApplicationFailure,
  activityInfo,
  CancelledFailure,
  CompleteAsyncError,
  heartbeat,
  log,
} from '@temporalio/activity';
import { clearOwnFault, markOwnFault } from '../../db/cfes.ts';
import { isDatabaseOutage, type Orm } from '../../db/orm.ts';
import { DEADLINES } from '../../domain/deadlines.ts';

export interface OwnFaultDeps {
  readonly orm: Orm;
  readonly clock: () => Date;
}

/**
 * Since when a step fails by a mistake of ours, in milliseconds; null once it has failed otherwise. Kept by the server
 * from attempt to attempt, with the heartbeats: a step that does not fail costs nothing.
 */
interface Known {
  readonly failingSince: number | null;
}

/**
 * A step of a sobre which tells that it keeps failing by a mistake of ours: after DEADLINES.ownFault its CFEs wait for
 * support, reason `internal`, in their rows and, by a signal, in its run. It is tried again all the same. Once it ends,
 * or fails for another reason, they wait for nobody (docs/workflows.md).
 */
export function tellingOwnFaults<T, A extends unknown[]>(
  { orm, clock }: OwnFaultDeps,
  step: (sobreId: string, ...rest: A) => Promise<T>,
): (sobreId: string, ...rest: A) => Promise<T> {
  return async (sobreId, ...rest) => {
    const since = failingSince();
    let result: T;
    try {
      result = await step(sobreId, ...rest);
    } catch (error) {
      if (isOwnFault(error)) await noteFault({ orm, clock }, sobreId, since);
      else if (since !== null && error instanceof ApplicationFailure) {
        await clearOwnFault(orm.em.fork(), sobreId, clock());
        heartbeat({ failingSince: null } satisfies Known);
      }
      throw error;
    }
    if (since !== null) await clearOwnFault(orm.em.fork(), sobreId, clock());
    return result;
  };
}

/** Whether it is neither an outage nor what a step says on purpose. */
export const isOwnFault = (error: unknown): boolean =>
  !(
    error instanceof ApplicationFailure ||
    error instanceof CancelledFailure ||
    error instanceof CompleteAsyncError ||
    isDatabaseOutage(error)
  );

async function noteFault({ orm, clock }: OwnFaultDeps, sobreId: string, since: number | null): Promise<void> {
  const now = clock();
  const first = since ?? now.getTime();
  heartbeat({ failingSince: first } satisfies Known);
  if (now.getTime() - first < DEADLINES.ownFault) return;
  await markOwnFault(orm.em.fork(), sobreId, now).catch((error: unknown) =>
    // The step's own error is what the log and the history are to have; the next attempt tells.
    log.warn('that a step keeps failing by a mistake of ours could not be told', { error }),
  );
}

function failingSince(): number | null {
  const known = activityInfo().heartbeatDetails as Known | undefined;
  return known?.failingSince ?? null;
}
