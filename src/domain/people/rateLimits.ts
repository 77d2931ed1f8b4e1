import type { Environment } from '../receipts/cfeTypes.ts';

/** A limit of requests in a time window. */
export interface RateLimitRule {
  readonly most: number;
  readonly seconds: number;
}

const HOUR_SECONDS = 3_600;

/** The default rate limits of an account, by environment (docs/contract.md#limits). */
export const RATE_LIMITS: Readonly<Record<Environment, RateLimitRule>> = {
  production: { most: 1_000, seconds: HOUR_SECONDS },
  sandbox: { most: 5_000, seconds: HOUR_SECONDS },
};

/** The limit of failed authentications from one network address (docs/contract.md#limits). */
export const FAILURE_LIMIT: RateLimitRule = { most: 100, seconds: 600 };

/** The limit of receipts that are not found on the verification page, from one network address. */
export const VERIFICATION_LIMIT: RateLimitRule = { most: 60, seconds: FAILURE_LIMIT.seconds };

/** The limit of console forms of a person, over all sessions (docs/console.md#limits). */
export const FORM_LIMIT: RateLimitRule = { most: 600, seconds: HOUR_SECONDS };

/** A caller's use of the current window. */
export interface RateLimitUsage {
  readonly limit: RateLimitRule;
  /** Requests in the window, including this one and refused ones. */
  readonly used: number;
  /** End of the window, when counting restarts. */
  readonly resetsAt: Date;
}

/** True when the last counted request exceeds the limit. */
export const isExceeded = ({ used, limit }: RateLimitUsage): boolean => used > limit.most;

/** Returns the whole seconds until the window ends, at least 1. */
export function secondsUntilReset({ resetsAt }: RateLimitUsage, now: Date): number {
  return Math.max(1, Math.ceil((resetsAt.getTime() - now.getTime()) / 1_000));
}
