import { LRUCache } from 'lru-cache';
import { type AuthorityState, listAuthorityStates } from '../db/authorityEndpoints.ts';
import type { Database } from '../db/orm.ts';

/** What was read is told for so long: however often it is asked for, the database is asked once. */
const LASTS_MILLISECONDS = 1_000;

/** How the authority stands, as of a second ago at most. */
export type AuthorityWatch = () => Promise<readonly AuthorityState[]>;

/** A watch on the database; those who ask at once share one look, and one that fails is kept for nobody else. */
export function createAuthorityWatch({ orm }: { orm: Database }): AuthorityWatch {
  const looks = new LRUCache<'latest', readonly AuthorityState[]>({
    max: 1,
    ttl: LASTS_MILLISECONDS,
    fetchMethod: () => listAuthorityStates(orm.em.fork()),
  });
  return () => looks.forceFetch('latest');
}
