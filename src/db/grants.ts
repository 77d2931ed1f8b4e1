import type { EntityManager } from '@mikro-orm/postgresql';
import { EnterpriseGrant } from './entities/EnterpriseGrant.ts';

/** Stores the role of an account at an enterprise, in place of the one it had. */
export async function putGrant(em: EntityManager, grant: Omit<EnterpriseGrant, symbol>): Promise<void> {
  await em.upsert(EnterpriseGrant, grant, { onConflictFields: ['accountId', 'rut'] });
}

/** Removes the role of an account at an enterprise; answers whether it had one. */
export async function deleteGrant(
  em: EntityManager,
  grantee: { accountId: string; rut: string },
): Promise<boolean> {
  return (await em.nativeDelete(EnterpriseGrant, { ...grantee })) > 0;
}

/** Granted roles: all, those of an account, or those at an enterprise. */
export function listGrants(
  em: EntityManager,
  { accountId, rut }: { accountId?: string | undefined; rut?: string | undefined } = {},
): Promise<EnterpriseGrant[]> {
  return em.find(
    EnterpriseGrant,
    { ...(accountId === undefined ? {} : { accountId }), ...(rut === undefined ? {} : { rut }) },
    { orderBy: { rut: 'asc', accountId: 'asc' } },
  );
}
