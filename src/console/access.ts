/** Who somebody is in the console, and what they see (docs/console.md#people-and-roles); what they may do: permissions.ts. */
import type { LiveSession } from '../db/consoleSessions.ts';
import type { Database } from '../db/orm.ts';
import type { AccountMembership } from '../db/people.ts';
import { listRolesAt } from '../db/roles.ts';
import { isRoleAtLeast, MEMBER_ROLES, type MemberRole, type OperatorRole } from '../domain/people.ts';

/** Somebody who is signed in: an operator, who sees all, or a member of accounts, who sees what those accounts have a role at. */
export type Viewer =
  | { readonly kind: 'operator'; readonly role: OperatorRole }
  | { readonly kind: 'member'; readonly memberships: readonly AccountMembership[] };

/** What a session makes of its person. An operator without a second factor is none: a password alone does not open everyone's data. */
export function viewerOf(
  { operatorRole, method, hasSecondFactor }: LiveSession,
  memberships: readonly AccountMembership[],
): Viewer | null {
  if (operatorRole !== null && (method === 'oidc' || hasSecondFactor))
    return { kind: 'operator', role: operatorRole };
  return memberships.length > 0 ? { kind: 'member', memberships } : null;
}

/** The accounts whose data somebody sees; null: everyone's. */
export const accountsOf = (viewer: Viewer): readonly string[] | null =>
  viewer.kind === 'operator' ? null : viewer.memberships.map(({ accountId }) => accountId);

/**
 * What somebody is at one enterprise: an operator what they are everywhere; a member the lesser of their role in an account and
 * that account's role there, and of several accounts the one by which they are most. They act as that account.
 */
export type Standing =
  | { readonly kind: 'operator'; readonly role: OperatorRole }
  | { readonly kind: 'member'; readonly role: MemberRole; readonly accountId: string };

/** What somebody is at an enterprise; null: nothing, and they are to see nothing of it (404). */
export async function standingAt(orm: Database, viewer: Viewer, rut: string): Promise<Standing | null> {
  if (viewer.kind === 'operator') return viewer;
  const accounts = viewer.memberships.map(({ accountId }) => accountId);
  return standingBy(viewer, await listRolesAt(orm.em.fork(), accounts, rut));
}

/** The same, by the roles that accounts have at the enterprise. @internal exported for tests */
export function standingBy(
  viewer: Extract<Viewer, { kind: 'member' }>,
  held: ReadonlyMap<string, MemberRole>,
): Standing | null {
  const all = viewer.memberships.flatMap(({ accountId, role }) => {
    const there = held.get(accountId);
    if (!there) return [];
    const least = isRoleAtLeast(MEMBER_ROLES, there, role) ? role : there;
    return [{ kind: 'member' as const, role: least, accountId }];
  });
  return all.toSorted((a, b) => MEMBER_ROLES.indexOf(b.role) - MEMBER_ROLES.indexOf(a.role))[0] ?? null;
}
