/** The hourly limit of an account (docs/contract.md#limits): its headers, and its refusal. Counted by db/counts.ts. */
import type { Context } from 'koa';
import { isExceeded, type Quota, secondsUntilReset } from '../domain/requestLimits.ts';
import { Refusal } from '../errors.ts';

/** Name of the limit in the draft's headers. */
const POLICY = '"default"';

/**
 * Sends the quota to the caller, in the fields of draft-ietf-httpapi-ratelimit-headers. Refuses a request beyond the
 * limit (RATE_LIMITED).
 */
export function applyQuota(ctx: Pick<Context, 'set'>, quota: Quota, now: Date): void {
  const { limit, used } = quota;
  const remaining = Math.max(0, limit.most - used);
  const seconds = secondsUntilReset(quota, now);
  ctx.set({
    'RateLimit-Policy': `${POLICY};q=${limit.most};w=${limit.seconds}`,
    RateLimit: `${POLICY};r=${remaining};t=${seconds}`,
  });
  if (!isExceeded(quota)) return;
  throw new Refusal(
    'RATE_LIMITED',
    `The account has used its ${limit.most} requests of this hour; the next hour begins in ${seconds} seconds.`,
    { retryAfterSeconds: seconds },
  );
}
