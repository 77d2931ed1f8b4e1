import { expiredUntold, recordExpiriesOf } from '../db/expiries.ts';
import type { Orm } from '../db/orm.ts';
import { whileBeating } from './heartbeat.ts';

/** Enterprises looked up at a time. */
const PAGE = 100;

interface ExpiryDeps {
  orm: Orm;
  clock: () => Date;
  /** Enterprises looked up at a time; 100 unless told. */
  page?: number;
}

/** Activities about papers that expire by date. */
export const createExpiryActivities = (deps: ExpiryDeps) => ({
  /**
   * Records `enterprise.updated` once for every enterprise whose certificate or CAE has expired (decisions.md §3), each
   * in a transaction of its own; how many were told. Its repeat goes on where it was broken off.
   */
  recordExpiries: (): Promise<{ told: number }> => whileBeating(() => tellAll(deps)),
});

export type ExpiryActivities = ReturnType<typeof createExpiryActivities>;

async function tellAll({ orm, clock, page = PAGE }: ExpiryDeps): Promise<{ told: number }> {
  const now = clock();
  let told = 0;
  let after = '';
  for (;;) {
    const ruts = await expiredUntold(orm.em.fork(), { now, after, limit: page });
    for (const rut of ruts) {
      if (await orm.em.fork().transactional((em) => recordExpiriesOf(em, rut, now))) told += 1;
    }
    const last = ruts.at(-1);
    if (last === undefined || ruts.length < page) return { told };
    after = last;
  }
}
