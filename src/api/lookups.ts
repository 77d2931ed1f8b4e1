import { countFailedAuthentication } from '../commands/countFailedAuthentication.ts';
import { countRequest } from '../commands/countRequest.ts';
import { recordKeyUse } from '../commands/recordKeyUse.ts';
import { findApiKey, type KnownApiKey } from '../db/accounts.ts';
import { findEnterprise } from '../db/enterprises.ts';
import type { Enterprise } from '../db/entities/Enterprise.ts';
import { findGrant } from '../db/grants.ts';
import type { Environment } from '../domain/cfeTypes.ts';
import type { GrantedRole } from '../domain/grantedRole.ts';
import type { Quota } from '../domain/requestLimits.ts';
import type { ApiDeps } from './deps.ts';

/** What the checks before a handler ask of the database. */
export interface Lookups {
  /** The key with this public id, revoked or not. */
  apiKey(publicId: string): Promise<KnownApiKey | null>;
  /** Writes down that a key is in use. */
  keyUsed(key: KnownApiKey['key']): Promise<void>;
  /** Counts a request against the hourly limit of its account. */
  countRequest(of: { accountId: string; environment: Environment }): Promise<Quota>;
  /** Counts a failed authentication of a network address. */
  countFailedAuthentication(address: string): Promise<Quota>;
  enterprise(rut: string): Promise<Enterprise | null>;
  /** What an operator granted to an account at an enterprise of another; null when nothing. */
  grantedRole(of: { accountId: string; rut: string }): Promise<GrantedRole | null>;
}

/** The lookups on the real database. */
export function databaseLookups(deps: ApiDeps): Lookups {
  return {
    apiKey: (publicId) => findApiKey(deps.orm.em.fork(), publicId),
    keyUsed: (key) => recordKeyUse(deps, key),
    countRequest: (of) => countRequest(deps, of),
    countFailedAuthentication: (address) => countFailedAuthentication(deps, address),
    enterprise: (rut) => findEnterprise(deps.orm.em.fork(), rut),
    grantedRole: async (of) => (await findGrant(deps.orm.em.fork(), of))?.role ?? null,
  };
}
