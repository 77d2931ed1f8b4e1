import type { Admission } from '../db/counts.ts';
import type { Enterprise } from '../db/entities/enterprises.ts';
import { isAtLeast, type Role } from '../domain/roles.ts';
import { Refusal } from '../errors.ts';
import type { Caller, Route } from './route.ts';

/** The enterprise a request is about, and what the caller is for it; both null where the route asks for no role. */
export interface Access {
  readonly enterprise: Enterprise | null;
  readonly role: Role | null;
}

/**
 * The enterprise of `{rut}`. Refuses an unknown one (NOT_FOUND), and a caller without the role that the route asks
 * for (FORBIDDEN).
 */
export function enterpriseAccess(
  route: Pick<Route, 'role'>,
  rut: string | null,
  caller: Caller,
  { enterprise, granted }: Omit<Admission, 'quota'>,
): Access {
  if (route.role === null) return { enterprise: null, role: null };
  if (!enterprise) throw new Refusal('NOT_FOUND', `No enterprise with RUT ${rut} is registered.`);
  // Who registered the enterprise owns it; others are what an operator granted them.
  const role = enterprise.ownerAccountId === caller.accountId ? 'OWNER' : granted;
  if (!role) throw new Refusal('FORBIDDEN', `Your account has no role at the enterprise ${rut}.`);
  if (!isAtLeast(role, route.role)) {
    throw new Refusal(
      'FORBIDDEN',
      `This requires the role ${route.role}; yours at the enterprise ${rut} is ${role}.`,
    );
  }
  return { enterprise, role };
}
