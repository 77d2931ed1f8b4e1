/** The people who sign in to the console, and what they may be (docs/console.md#people-and-roles). */

/** What an operator may be, from least to most. */
export const OPERATOR_ROLES = ['VIEWER', 'SUPPORT', 'ADMIN'] as const;
export type OperatorRole = (typeof OPERATOR_ROLES)[number];

/** What a member of an account may be, from least to most. */
export const MEMBER_ROLES = ['VIEWER', 'MEMBER', 'OWNER'] as const;
export type MemberRole = (typeof MEMBER_ROLES)[number];

/** How somebody signed in: by the password that is kept here, or by the operator's own OpenID provider. */
export type SignInMethod = 'password' | 'oidc';

/** Whether who holds one role of a ladder may do what needs at least the other. */
export function isRoleAtLeast<R extends string>(ladder: readonly R[], held: R, least: R): boolean {
  return ladder.indexOf(held) >= ladder.indexOf(least);
}

/** An invitation is good for a day, and once. */
export const INVITATION_MILLISECONDS = 24 * 3_600_000;

/** How long the secret of a second factor that somebody sets up waits for its first code. */
export const OFFER_MILLISECONDS = 10 * 60_000;

/** How long a session lasts: without a request, in all, and while the second factor is awaited. */
export const SESSION = {
  idleMilliseconds: 30 * 60_000,
  longestMilliseconds: 12 * 3_600_000,
  secondFactorMilliseconds: 5 * 60_000,
} as const;

/**
 * Attempts to sign in that one place has in a window (docs/security.md#the-console). Those who signed in from their browser before are
 * counted apart from everybody else, so that nobody who fails for them locks them out.
 */
export const SIGN_IN_LIMITS = {
  seconds: 15 * 60,
  /** From one network, whomever they are for. */
  network: 30,
  /** For one address of e-mail, from browsers in which it never signed in. */
  account: 20,
  /** For one address of e-mail, from one browser in which it signed in before. */
  browser: 20,
  /** Of one person, those that succeeded: each is a session, and a row of the audit. */
  done: 60,
} as const;
