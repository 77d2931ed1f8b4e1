import { findApiKey, type KnownApiKey, type LiveKey, liveApiKeys, recordKeyUse } from '../db/accounts.ts';
import { type Admission, admitRequest, countFailedAuthentication } from '../db/counts.ts';
import type { Environment } from '../domain/cfeTypes.ts';
import type { Quota } from '../domain/requestLimits.ts';
import type { ApiDeps } from './deps.ts';

/** What the checks before a handler ask of the database. */
export interface Lookups {
  /** The key with this public id, revoked or not. */
  apiKey(publicId: string): Promise<KnownApiKey | null>;
  /** Records that a key is in use. */
  keyUsed(key: KnownApiKey['key']): Promise<void>;
  /** Counts a request against the hourly limit of its account, and looks up the enterprise it is about, if any. */
  admit(caller: { accountId: string; environment: Environment }, rut: string | null): Promise<Admission>;
  /** Counts a failed authentication of a network. */
  countFailedAuthentication(network: string): Promise<Quota>;
  /** All keys that are not revoked, by their public ids. */
  liveKeys(): Promise<ReadonlyMap<string, LiveKey>>;
}

/** The lookups on the real database; what is counted goes over connections of its own. */
export function databaseLookups({
  orm,
  counters,
  realClock,
}: Pick<ApiDeps, 'orm' | 'counters' | 'realClock'>): Lookups {
  return {
    apiKey: (publicId) => findApiKey(orm.em.fork(), publicId),
    keyUsed: (key) => recordKeyUse(orm.em.fork(), key, realClock()),
    admit: (caller, rut) => admitRequest(counters.em.fork(), caller, rut, realClock()),
    countFailedAuthentication: (network) =>
      countFailedAuthentication(counters.em.fork(), network, realClock()),
    liveKeys: () => liveApiKeys(counters.em.fork()),
  };
}
