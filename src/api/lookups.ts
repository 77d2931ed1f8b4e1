import { findApiKey, type KnownApiKey, recordKeyUse } from '../db/accounts.ts';
import { findEnterprise } from '../db/enterprises.ts';
import type { Enterprise } from '../db/entities/Enterprise.ts';
import { findGrant } from '../db/grants.ts';
import { countFailedAuthentication, countRequest } from '../db/requestCounts.ts';
import type { Environment } from '../domain/cfeTypes.ts';
import type { GrantedRole } from '../domain/grantedRole.ts';
import type { Quota } from '../domain/requestLimits.ts';
import type { ApiDeps } from './deps.ts';

/** What the checks before a handler ask of the database. */
export interface Lookups {
  /** The key with this public id, revoked or not. */
  apiKey(publicId: string): Promise<KnownApiKey | null>;
  /** Records that a key is in use. */
  keyUsed(key: KnownApiKey['key']): Promise<void>;
  /** Counts a request against the hourly limit of its account. */
  countRequest(caller: { accountId: string; environment: Environment }): Promise<Quota>;
  /** Counts a failed authentication of a network address. */
  countFailedAuthentication(address: string): Promise<Quota>;
  enterprise(rut: string): Promise<Enterprise | null>;
  /** What an operator granted to an account at an enterprise of another; null when nothing. */
  grantedRole(grantee: { accountId: string; rut: string }): Promise<GrantedRole | null>;
}

/** The lookups on the real database. */
export function databaseLookups({ orm, clock }: Pick<ApiDeps, 'orm' | 'clock'>): Lookups {
  return {
    apiKey: (publicId) => findApiKey(orm.em.fork(), publicId),
    keyUsed: (key) => recordKeyUse(orm.em.fork(), key, clock()),
    countRequest: (caller) => countRequest(orm.em.fork(), caller, clock()),
    countFailedAuthentication: (address) => countFailedAuthentication(orm.em.fork(), address, clock()),
    enterprise: (rut) => findEnterprise(orm.em.fork(), rut),
    grantedRole: async (grantee) => (await findGrant(orm.em.fork(), grantee))?.role ?? null,
  };
}
