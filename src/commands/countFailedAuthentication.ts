import { countFailedAuthentication as count } from '../db/requestCounts.ts';
import { FAILURE_LIMIT, type Quota } from '../domain/requestLimits.ts';
import type { CommandDeps } from './deps.ts';

/** Counts one failed authentication of a network address. Whoever calls refuses what goes beyond the limit. */
export async function countFailedAuthentication(
  deps: Pick<CommandDeps, 'orm' | 'clock'>,
  address: string,
): Promise<Quota> {
  const { seconds } = FAILURE_LIMIT;
  const { count: used, since } = await count(deps.orm.em.fork(), address, { now: deps.clock(), seconds });
  return { limit: FAILURE_LIMIT, used, resetsAt: new Date(since.getTime() + seconds * 1_000) };
}
