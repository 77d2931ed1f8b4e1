import { countRequest as count } from '../db/requestCounts.ts';
import type { Environment } from '../domain/cfeTypes.ts';
import { HOURLY_LIMITS, type Quota } from '../domain/requestLimits.ts';
import type { CommandDeps } from './deps.ts';

/**
 * Counts one request against the hourly limit of an account in an environment: its own limit, where an operator set
 * one, else everyone's. Whoever calls refuses what goes beyond it.
 */
export async function countRequest(
  deps: Pick<CommandDeps, 'orm' | 'clock'>,
  of: { accountId: string; environment: Environment },
): Promise<Quota> {
  const { most, seconds } = HOURLY_LIMITS[of.environment];
  const { count: used, since, perHour } = await count(deps.orm.em.fork(), of, { now: deps.clock(), seconds });
  return {
    limit: { most: perHour ?? most, seconds },
    used,
    resetsAt: new Date(since.getTime() + seconds * 1_000),
  };
}
