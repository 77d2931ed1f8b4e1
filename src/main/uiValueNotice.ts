import type { Registry } from 'prom-client';
import type { Orm } from '../db/orm.ts';
import { uiValueFor } from '../db/uiValues.ts';
import { uiValueWarning } from '../domain/uiValues.ts';
import type { Logger } from '../logger.ts';
import { gauge } from '../metrics/instruments.ts';
import { createReading } from '../metrics/reading.ts';

/** Once a year it changes; a scrape waits no longer for the database. */
const READING = { keepMilliseconds: 5_000, patienceMilliseconds: 3_000 };

/**
 * Tells, in the log at start and in the metrics always, when the UI value that counts this year or the next is an
 * estimate or stands in from another year (decisions.md §7): the 5,000 UI limit is then not the true one.
 */
export async function noticeUiValues(options: {
  orm: Orm;
  registry: Registry;
  logger: Logger;
  clock: () => Date;
}): Promise<void> {
  const { orm, registry, logger, clock } = options;
  const standIns = async () => {
    const year = clock().getUTCFullYear();
    const em = orm.em.fork();
    const rows = await Promise.all(
      [year, year + 1].map(async (one) => {
        const row = await uiValueFor(em.fork(), one);
        return { year: one, why: row ? uiValueWarning(row, one) : ('none' as const) };
      }),
    );
    return rows.flatMap(({ year: of, why }) => (why === undefined ? [] : [{ year: of, why }]));
  };
  const reading = createReading({ read: standIns, ...READING });
  gauge(registry, 'cfe_ui_value_stand_in', async (own) => {
    for (const { year, why } of (await reading()) ?? [])
      own.set({ year: String(year), why: why.replace(' ', '_') }, 1);
  });
  for (const { year, why } of await standIns()) {
    logger.warn(
      { year, why },
      'the UI value of a year is not its own; load it with `npm run cfe -- ui-value load FILE`',
    );
  }
}
