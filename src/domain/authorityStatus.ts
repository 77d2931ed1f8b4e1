/** How the authority stands for an environment, as customers are told (docs/contract.md#the-authority). */

export const AUTHORITY_STATUSES = ['UP', 'SLOW', 'DOWN'] as const;
export type AuthorityStatus = (typeof AUTHORITY_STATUSES)[number];

/** What customers are told of as it happens. */
export const AUTHORITY_CHANGES = ['UP', 'DOWN'] as const satisfies readonly AuthorityStatus[];
export type AuthorityChange = (typeof AUTHORITY_CHANGES)[number];

/** A CFE that waits longer means that the authority is slow. */
const SLOW_SECONDS = 60;

/**
 * DOWN while no sobre goes there, else SLOW once the oldest CFE has waited for more than a minute, else UP; and since
 * when: null where it was never DOWN as far as is known.
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
