import { rutsWithDueReports, startDueReports, wakeCorrected } from '../db/dailyReports.ts';
import type { Orm } from '../db/orm.ts';
import { montevideoDate } from '../domain/montevideo.ts';
import type { Activity } from './activities.ts';
import { withHeartbeat } from './steps/attempt.ts';

/** Enterprises looked at in one run of the activity, so many that its results stay few. */
const PAGE = 50;
/** Of the sends that the authority takes in a second, CFEs have at least the other half. */
const SHARE = 0.5;

/**
 * Stores the days that are due of up to `page` enterprises after the RUT `after`, each enterprise in a transaction of its
 * own, and starts the first report of each that may go. Others follow as those are sent. The first page also wakes
 * reports whose day was changed since.
 */
export function createStartReports({
  orm,
  clock,
  outbox,
  sendsPerSecond,
  page = PAGE,
}: {
  orm: Orm;
  clock: () => Date;
  outbox: { scheduleDispatch(): void };
  sendsPerSecond: number;
  page?: number;
}): Activity<'startReports'> {
  return (after) =>
    withHeartbeat(async () => {
      const now = clock();
      const today = montevideoDate(now);
      let reports = 0;
      if (after === '') reports += await wakeCorrected(orm.em.fork(), now);
      const ruts = await rutsWithDueReports(orm.em.fork(), { after, limit: page, today });
      for (const rut of ruts) {
        if (await orm.em.fork().transactional((em) => startDueReports(em, rut, { today, now }))) reports += 1;
      }
      outbox.scheduleDispatch();
      return {
        kind: 'started',
        reports,
        after: ruts.length < page ? null : (ruts.at(-1) ?? null),
        pauseMilliseconds: Math.ceil((reports * 1_000) / (sendsPerSecond * SHARE)),
      };
    });
}
