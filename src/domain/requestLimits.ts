import type { Environment } from './cfeTypes.ts';

/** How many requests an account may make in a window of time, and how long that is. */
export interface RequestLimit {
  readonly most: number;
  readonly seconds: number;
}

const HOUR_SECONDS = 3_600;

/** Requests an hour of an account that has no limit of its own, by environment (docs/contract.md#limits). */
export const HOURLY_LIMITS: Readonly<Record<Environment, RequestLimit>> = {
  production: { most: 1_000, seconds: HOUR_SECONDS },
  sandbox: { most: 5_000, seconds: HOUR_SECONDS },
};

/** Failed authentications of one network address (docs/contract.md#limits). */
export const FAILURE_LIMIT: RequestLimit = { most: 100, seconds: 600 };

/** Forms that a person may send in the console, by whatever sessions (docs/console.md#limits). */
export const FORM_LIMIT: RequestLimit = { most: 600, seconds: HOUR_SECONDS };

/** Where a caller stands in the current window. */
export interface Quota {
  readonly limit: RequestLimit;
  /** Requests of the window, this one included; more than the limit once they are refused. */
  readonly used: number;
  /** When the window ends and counting begins anew. */
  readonly resetsAt: Date;
}

/** Whether the request that was counted last is one too many. */
export const isExceeded = ({ used, limit }: Quota): boolean => used > limit.most;

/** Whole seconds, at least one, until a window ends. */
export function secondsUntilReset({ resetsAt }: Quota, now: Date): number {
  return Math.max(1, Math.ceil((resetsAt.getTime() - now.getTime()) / 1_000));
}
