import type { Registry } from 'prom-client';
import type { Orm } from '../db/orm.ts';
import { listUiValues } from '../db/receipts/rates.ts';
import { yearsWithoutExactUi } from '../domain/receipts/uiValues.ts';
import { montevideoDate } from '../domain/values/montevideo.ts';
import type { Logger } from '../logger.ts';
import { gauge } from '../metrics/instruments.ts';
import { createReading } from '../metrics/reading.ts';

/** How long a reading is reused, and how long a scrape waits for one. */
const READING = { keepMilliseconds: 5_000, patienceMilliseconds: 3_000 };

/**
 * Warns, in the log at start and always in the metrics, when the UI value of this year or, from 1 December on, of the next
 * is an estimate, another year's or unknown (docs/contract.md#value-of-the-ui): the 5,000 UI limit is then not exact.
 */
export async function watchUiValues(options: {
  orm: Orm;
  registry: Registry;
  logger: Logger;
  clock: () => Date;
}): Promise<void> {
  const { orm, registry, logger, clock } = options;
  const standIns = async () => {
    const rows = await listUiValues(orm.em.fork());
    return yearsWithoutExactUi(rows, montevideoDate(clock()));
  };
  const reading = createReading({ read: standIns, ...READING });
  gauge(registry, 'cfe_ui_value_stand_in', async (own) => {
    for (const { year, why } of (await reading()) ?? [])
      own.set({ year: String(year), why: why.replace(' ', '_') }, 1);
  });
  for (const { year, why } of await standIns()) {
    logger.warn(
      { year, why },
      `the UI value of ${year} is not exact (${why}); load it with \`npm run cfe -- ui-value load FILE\``,
    );
  }
}
