/** Who somebody is in the console, and what that lets them see and do (docs/console.md#people-and-roles). */
import type { LiveSession } from '../db/consoleSessions.ts';
import type { MembershipOf } from '../db/people.ts';
import {
  MEMBER_ROLES,
  type MemberRole,
  OPERATOR_ROLES,
  type OperatorRole,
  reaches,
} from '../domain/people.ts';

/** Somebody who is signed in: an operator, who sees all, or a member of accounts, who sees what those accounts have a role at. */
export type Viewer =
  | { readonly kind: 'operator'; readonly role: OperatorRole }
  | { readonly kind: 'member'; readonly memberships: readonly MembershipOf[] };

/** Who may open a page or send a form: each kind from that role on; null: not that kind. */
export interface Audience {
  readonly operators: OperatorRole | null;
  readonly members: MemberRole | null;
}

/** What a session makes of its person. An operator without a second factor is none: a password alone does not open everyone's data. */
export function viewerOf(
  { operatorRole, method, hasSecondFactor }: LiveSession,
  memberships: readonly MembershipOf[],
): Viewer | null {
  if (operatorRole !== null && (method === 'oidc' || hasSecondFactor))
    return { kind: 'operator', role: operatorRole };
  return memberships.length > 0 ? { kind: 'member', memberships } : null;
}

/** Whether somebody is among those; a member, where they have that role in one of their accounts at least. */
export function isAmong(viewer: Viewer, { operators, members }: Audience): boolean {
  if (viewer.kind === 'operator')
    return operators !== null && reaches(OPERATOR_ROLES, viewer.role, operators);
  return members !== null && viewer.memberships.some(({ role }) => reaches(MEMBER_ROLES, role, members));
}

/** The accounts whose data somebody sees; null: everyone's. */
export const accountsOf = (viewer: Viewer): readonly string[] | null =>
  viewer.kind === 'operator' ? null : viewer.memberships.map(({ accountId }) => accountId);
