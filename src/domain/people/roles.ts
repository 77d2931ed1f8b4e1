/** Roles of an account at an enterprise, from least to most (docs/contract.md#roles). */
export const ROLES = ['VIEWER', 'MEMBER', 'OWNER'] as const;
export type Role = (typeof ROLES)[number];

/** Roles that an operator can grant at an enterprise of another account. */
export const GRANTED_ROLES = ['VIEWER', 'MEMBER'] as const;
export type GrantedRole = (typeof GRANTED_ROLES)[number];

/** True when `role` is at least `least`. */
export function isAtLeast(role: Role, least: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(least);
}
