/** The users of the console and their roles (docs/console.md#people-and-roles). */

/** Roles of operators, from least to most. */
export const OPERATOR_ROLES = ['VIEWER', 'SUPPORT', 'ADMIN'] as const;
export type OperatorRole = (typeof OPERATOR_ROLES)[number];

/** Roles of members of an account, from least to most. */
export const MEMBER_ROLES = ['VIEWER', 'MEMBER', 'OWNER'] as const;
export type MemberRole = (typeof MEMBER_ROLES)[number];

/** How a person signs in: with the password stored here, or with the operator's OpenID provider. */
export type SignInMethod = 'password' | 'oidc';

/** True when `role` is at least `least` in an ordered list of roles. */
export function isRoleAtLeast<R extends string>(roles: readonly R[], role: R, least: R): boolean {
  return roles.indexOf(role) >= roles.indexOf(least);
}

/** An invitation is valid for a day, and once. */
export const INVITATION_MILLISECONDS = 24 * 3_600_000;

/** How long a new second factor waits for its first code. */
export const OFFER_MILLISECONDS = 10 * 60_000;

/** Lifetime of a session: without a request, in total, and before the second factor. */
export const SESSION = {
  idleMilliseconds: 30 * 60_000,
  longestMilliseconds: 12 * 3_600_000,
  secondFactorMilliseconds: 5 * 60_000,
} as const;

/**
 * The most attempts to sign in per window (docs/security.md#the-console). People in a known browser are counted
 * separately, to prevent others from locking them out.
 */
export const SIGN_IN_LIMITS = {
  seconds: 15 * 60,
  /** From one network, for any person. */
  network: 30,
  /** For one e-mail address, from unknown browsers. */
  account: 20,
  /** For one e-mail address, from one known browser. */
  browser: 20,
  /** Successful attempts of one person: each creates a session and an audit row. */
  done: 60,
} as const;
