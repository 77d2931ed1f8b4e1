import { findApiKey, type KnownApiKey, type LiveKey, liveApiKeys, recordKeyUse } from '../db/accounts.ts';
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
  /** Counts a failed authentication of a network. */
  countFailedAuthentication(network: string): Promise<Quota>;
  /** All keys that are not revoked, by their public ids. */
  liveKeys(): Promise<ReadonlyMap<string, LiveKey>>;
  enterprise(rut: string): Promise<Enterprise | null>;
  /** What an operator granted to an account at an enterprise of another; null when nothing. */
  grantedRole(grantee: { accountId: string; rut: string }): Promise<GrantedRole | null>;
}

/** The lookups on the real database; what is counted goes over connections of its own. */
export function databaseLookups({
  orm,
  counters,
  clock,
}: Pick<ApiDeps, 'orm' | 'counters' | 'clock'>): Lookups {
  return {
    apiKey: (publicId) => findApiKey(orm.em.fork(), publicId),
    keyUsed: (key) => recordKeyUse(orm.em.fork(), key, clock()),
    countRequest: (caller) => countRequest(counters.em.fork(), caller, clock()),
    countFailedAuthentication: (network) => countFailedAuthentication(counters.em.fork(), network, clock()),
    liveKeys: () => liveApiKeys(counters.em.fork()),
    enterprise: (rut) => findEnterprise(orm.em.fork(), rut),
    grantedRole: async (grantee) => (await findGrant(orm.em.fork(), grantee))?.role ?? null,
  };
}
