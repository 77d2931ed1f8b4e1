/** What a caller may be for an enterprise, from least to most (docs/contract.md#roles). */
export const ROLES = ['VIEWER', 'MEMBER', 'OWNER'] as const;
export type Role = (typeof ROLES)[number];

/** What an operator may let an account be at an enterprise of another account. */
export const GRANTED_ROLES = ['VIEWER', 'MEMBER'] as const;
export type GrantedRole = (typeof GRANTED_ROLES)[number];

/** Whether a caller with the role `held` may do what needs at least `least`. */
export function isAtLeast(held: Role, least: Role): boolean {
  return ROLES.indexOf(held) >= ROLES.indexOf(least);
}
