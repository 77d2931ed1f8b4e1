/** Determines a person's role and the data they see (docs/console.md#people-and-roles). */

import type { Database } from '../../db/orm.ts';
import type { LiveSession } from '../../db/people/consoleSessions.ts';
import type { AccountMembership } from '../../db/people/people.ts';
import { listRolesAt } from '../../db/people/roles.ts';
import {
  isRoleAtLeast,
  MEMBER_ROLES,
  type MemberRole,
  type OperatorRole,
} from '../../domain/people/people.ts';

/** A signed-in person: an operator, who sees everything, or a member, who sees the enterprises of their accounts. */
export type Viewer =
  | { readonly kind: 'operator'; readonly role: OperatorRole }
  | { readonly kind: 'member'; readonly memberships: readonly AccountMembership[] };

/** Returns the viewer of a session. A password alone must not open everyone's data: operators need a second factor. */
export function viewerOf(
  { operatorRole, method, hasSecondFactor }: LiveSession,
  memberships: readonly AccountMembership[],
): Viewer | null {
  if (operatorRole !== null && (method === 'oidc' || hasSecondFactor))
    return { kind: 'operator', role: operatorRole };
  return memberships.length > 0 ? { kind: 'member', memberships } : null;
}

/** Returns the accounts whose data the viewer sees; null means all. */
export const accountsOf = (viewer: Viewer): readonly string[] | null =>
  viewer.kind === 'operator' ? null : viewer.memberships.map(({ accountId }) => accountId);

/**
 * A viewer's role at one enterprise. A member has the lower of their role in an account and the account's role at the
 * enterprise; a member of several accounts acts for the account with the highest such role.
 */
export type EnterpriseAccess =
  | { readonly kind: 'operator'; readonly role: OperatorRole }
  | { readonly kind: 'member'; readonly role: MemberRole; readonly accountId: string };

/** Returns the viewer's role at an enterprise; null if they have none and must get NOT_FOUND. */
export async function findAccessAt(
  orm: Database,
  viewer: Viewer,
  rut: string,
): Promise<EnterpriseAccess | null> {
  if (viewer.kind === 'operator') return viewer;
  const accounts = viewer.memberships.map(({ accountId }) => accountId);
  return highestAccess(viewer, await listRolesAt(orm.em.fork(), accounts, rut));
}

/** Returns a member's highest role, given each account's role at the enterprise. @internal exported for tests */
export function highestAccess(
  viewer: Extract<Viewer, { kind: 'member' }>,
  rolesByAccount: ReadonlyMap<string, MemberRole>,
): EnterpriseAccess | null {
  const candidates = viewer.memberships.flatMap(({ accountId, role }) => {
    const accountRole = rolesByAccount.get(accountId);
    if (!accountRole) return [];
    const lower = isRoleAtLeast(MEMBER_ROLES, accountRole, role) ? role : accountRole;
    return [{ kind: 'member' as const, role: lower, accountId }];
  });
  return (
    candidates.toSorted((a, b) => MEMBER_ROLES.indexOf(b.role) - MEMBER_ROLES.indexOf(a.role))[0] ?? null
  );
}
