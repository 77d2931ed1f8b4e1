import { requireAccount } from '../db/accounts.ts';
import type { RateLimit } from '../db/entities/RateLimit.ts';
import { putRateLimit } from '../db/rateLimits.ts';
import { audited } from './steps/audited.ts';
import type { CommandDeps } from './steps/deps.ts';

/**
 * Sets how many requests an hour an account may make in an environment, in place of everyone's number, and unless told
 * to `keep` it, of its own. An operator's act. Refuses an unknown account (NOT_FOUND).
 */
export function setRateLimit(
  deps: CommandDeps,
  limit: Omit<RateLimit, symbol> & { keep?: boolean; reason?: string | undefined },
): Promise<Omit<RateLimit, symbol>> {
  const { environment, perHour, keep = false, reason } = limit;
  return deps.orm.em.fork().transactional(async (em) => {
    const { id: accountId } = await requireAccount(em, limit.accountId);
    await putRateLimit(em, { accountId, environment, perHour }, { keep });
    const subject = `${environment} ${perHour}`;
    const why = reason === undefined ? {} : { reason };
    if (!keep) audited(deps, em, { action: 'limit.set', subject, accountId, ...why }, deps.clock());
    return { accountId, environment, perHour };
  });
}
