import { type AuthorityState, authorityStates } from '../db/authorityEndpoints.ts';
import type { Database } from '../db/orm.ts';

/** What was read is told for so long: however often it is asked for, the database is asked once. */
const LASTS_MILLISECONDS = 1_000;

/** How the authority stands, as of a second ago at most. */
export type AuthorityWatch = () => Promise<readonly AuthorityState[]>;

/** A watch on the database; those who ask at once share one look. */
export function createAuthorityWatch({ orm }: { orm: Database }): AuthorityWatch {
  let look: { at: number; states: Promise<readonly AuthorityState[]> } | null = null;
  return () => {
    if (look && performance.now() - look.at < LASTS_MILLISECONDS) return look.states;
    const mine = { at: performance.now(), states: authorityStates(orm.em.fork()) };
    look = mine;
    // A look that failed is nobody's answer but of those who share it.
    mine.states.catch(() => {
      if (look === mine) look = null;
    });
    return mine.states;
  };
}
