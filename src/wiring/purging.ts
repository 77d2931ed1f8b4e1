import type { Orm } from '../db/orm.ts';
import { purgeExpired } from '../db/purge.ts';
import type { Logger } from '../logger.ts';

/** Pause between two purges of what is past its time; every API process does it, and once is enough. */
const PURGE_MILLISECONDS = 600_000;

/** Purges every ten minutes until the answered function is called. */
export function startPurging({ orm, logger }: { orm: Orm; logger: Logger }): () => void {
  const timer = setInterval(() => {
    purgeExpired(orm.em.fork(), new Date()).catch((err: unknown) =>
      logger.warn({ err }, 'purging failed; tried again later'),
    );
  }, PURGE_MILLISECONDS);
  return () => clearInterval(timer);
}
