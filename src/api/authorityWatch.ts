import { LRUCache } from 'lru-cache';
import { type AuthorityState, listAuthorityStates } from '../db/authority/authorityEndpoints.ts';
import type { Database } from '../db/orm.ts';

/** How long a reading is reused: at most one query per second. */
const CACHE_MILLISECONDS = 1_000;

/** Returns the state of the authority, at most a second old. */
export type AuthorityWatch = () => Promise<readonly AuthorityState[]>;

/** Creates a watch on the database. Concurrent callers share one query; a failed query is not cached. */
export function createAuthorityWatch({ orm }: { orm: Database }): AuthorityWatch {
  const readings = new LRUCache<'latest', readonly AuthorityState[]>({
    max: 1,
    ttl: CACHE_MILLISECONDS,
    fetchMethod: () => listAuthorityStates(orm.em.fork()),
  });
  return () => readings.forceFetch('latest');
}
