import type { Orm } from '../../db/orm.ts';
import { rutsWithDueReports, startDueReports, wakeChangedReports } from '../../db/reports/dailyReports.ts';
import { montevideoDate } from '../../domain/values/montevideo.ts';
import type { Activity } from '../activities.ts';
import { withHeartbeat } from '../authority/attempt.ts';

/** Enterprises per run of the activity, so that its results stay few. */
const PAGE = 50;
/** Reports get at most this share of the sends per second; CFEs get the rest. */
const SHARE = 0.5;

/**
 * Stores the due days of up to `page` enterprises after the RUT `after`, one transaction each, and starts the
 * first report of each; the others follow one by one. The first page also wakes reports whose day has
 * changed.
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
      if (after === '') reports += await wakeChangedReports(orm.em.fork(), now);
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
