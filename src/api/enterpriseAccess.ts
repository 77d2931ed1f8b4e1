import type { Enterprise } from '../db/entities/Enterprise.ts';
import { Refusal } from '../errors.ts';
import type { Lookups } from './lookups.ts';
import { isAtLeast, type Role } from './roles.ts';
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
export async function enterpriseAccess(
  route: Pick<Route, 'role'>,
  rut: unknown,
  caller: Caller,
  lookups: Lookups,
): Promise<Access> {
  if (route.role === null) return { enterprise: null, role: null };
  if (typeof rut !== 'string') throw new TypeError('a route that asks for a role has {rut} in its path');
  const enterprise = await lookups.enterprise(rut);
  if (!enterprise) throw new Refusal('NOT_FOUND', `No enterprise with RUT ${rut} is registered.`);
  const role = await roleOf(caller.accountId, enterprise, lookups);
  if (!role) throw new Refusal('FORBIDDEN', `Your account has no role at the enterprise ${rut}.`);
  if (!isAtLeast(role, route.role)) {
    throw new Refusal(
      'FORBIDDEN',
      `This requires the role ${route.role}; yours at the enterprise ${rut} is ${role}.`,
    );
  }
  return { enterprise, role };
}

/** Who registered the enterprise owns it; others are what an operator granted them. Null for a stranger. */
async function roleOf(accountId: string, enterprise: Enterprise, lookups: Lookups): Promise<Role | null> {
  if (enterprise.ownerAccountId === accountId) return 'OWNER';
  return lookups.grantedRole({ accountId, rut: enterprise.rut });
}
