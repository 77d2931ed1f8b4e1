/** Who somebody is in the console, and what that lets them see and do (docs/console.md#people-and-roles). */
import type { LiveSession } from '../db/consoleSessions.ts';
import type { Database } from '../db/orm.ts';
import type { MembershipOf } from '../db/people.ts';
import { rolesAt } from '../db/roles.ts';
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
  return standingBy(viewer, await rolesAt(orm.em.fork(), accounts, rut));
}

/** The same, by the roles that accounts have at the enterprise. @internal exported for tests */
export function standingBy(
  viewer: Extract<Viewer, { kind: 'member' }>,
  held: ReadonlyMap<string, MemberRole>,
): Standing | null {
  const all = viewer.memberships.flatMap(({ accountId, role }) => {
    const there = held.get(accountId);
    if (!there) return [];
    const least = reaches(MEMBER_ROLES, there, role) ? role : there;
    return [{ kind: 'member' as const, role: least, accountId }];
  });
  return all.toSorted((a, b) => MEMBER_ROLES.indexOf(b.role) - MEMBER_ROLES.indexOf(a.role))[0] ?? null;
}

/** Whether who stands so at an enterprise may do what is for those; what is not offered by this is refused by it. */
export function mayAt(standing: Standing | null, { operators, members }: Audience): boolean {
  if (standing?.kind === 'operator')
    return operators !== null && reaches(OPERATOR_ROLES, standing.role, operators);
  return standing !== null && members !== null && reaches(MEMBER_ROLES, standing.role, members);
}

/** The same for what belongs to an account and to no enterprise, such as its webhooks and keys. */
export function mayIn(viewer: Viewer, accountId: string, audience: Audience): boolean {
  if (viewer.kind === 'operator') return mayAt(viewer, audience);
  const membership = viewer.memberships.find((one) => one.accountId === accountId);
  return mayAt(membership ? { kind: 'member', ...membership } : null, audience);
}
