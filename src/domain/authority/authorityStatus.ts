/** The availability of the authority in an environment, as customers see it (docs/contract.md#the-authority). */

export const AUTHORITY_STATUSES = ['UP', 'SLOW', 'DOWN'] as const;
export type AuthorityStatus = (typeof AUTHORITY_STATUSES)[number];

/** The changes that customers are notified of. */
export const AUTHORITY_CHANGES = ['UP', 'DOWN'] as const satisfies readonly AuthorityStatus[];
export type AuthorityChange = (typeof AUTHORITY_CHANGES)[number];

/** The authority is SLOW when a CFE waits longer. */
const SLOW_SECONDS = 60;

/**
 * Returns DOWN while the breaker is open, else SLOW when the oldest CFE has waited over a minute, else UP. `since` is null
 * if the authority was never DOWN.
 */
export function authorityStatus(
  state: {
    readonly openSince: Date | null;
    readonly closedAt: Date | null;
    readonly oldestSince: Date | null;
  },
  now: Date,
): { status: AuthorityStatus; since: Date | null } {
  const { openSince, closedAt, oldestSince } = state;
  if (openSince) return { status: 'DOWN', since: openSince };
  const slowSince = oldestSince && new Date(oldestSince.getTime() + SLOW_SECONDS * 1_000);
  if (!slowSince || slowSince >= now) return { status: 'UP', since: closedAt };
  return { status: 'SLOW', since: closedAt && closedAt > slowSince ? closedAt : slowSince };
}
