import type { EntityManager } from '@mikro-orm/postgresql';
import { EnterpriseGrant } from './entities/EnterpriseGrant.ts';

/** Stores what an account may be at an enterprise, in place of what it was. */
export async function putGrant(em: EntityManager, grant: Omit<EnterpriseGrant, symbol>): Promise<void> {
  await em.upsert(EnterpriseGrant, grant, { onConflictFields: ['accountId', 'rut'] });
}

/** Takes from an account what it was at an enterprise; answers whether it was anything. */
export async function deleteGrant(
  em: EntityManager,
  of: { accountId: string; rut: string },
): Promise<boolean> {
  return (await em.nativeDelete(EnterpriseGrant, { ...of })) > 0;
}

/** What was granted to an account at an enterprise, or null. */
export function findGrant(
  em: EntityManager,
  of: { accountId: string; rut: string },
): Promise<EnterpriseGrant | null> {
  return em.findOne(EnterpriseGrant, { ...of });
}

/** Everything granted: all, or what is an account's or at an enterprise. */
export function listGrants(
  em: EntityManager,
  of: { accountId?: string | undefined; rut?: string | undefined } = {},
): Promise<EnterpriseGrant[]> {
  const { accountId, rut } = of;
  return em.find(
    EnterpriseGrant,
    { ...(accountId === undefined ? {} : { accountId }), ...(rut === undefined ? {} : { rut }) },
    { orderBy: { rut: 'asc', accountId: 'asc' } },
  );
}
