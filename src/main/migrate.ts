/** `npm run migrate`: migrates the database and exits; the job that runs before programs of a new version. */
import { readConfig } from '../config.ts';
import { migrate, type Orm, openOrm } from '../db/orm.ts';
import { createLogger } from '../logger.ts';
import { configOrExit } from '../wiring/process.ts';

const config = configOrExit(() => readConfig(['DATABASE_URL', 'CFE_LOG_LEVEL']));
const logger = createLogger({ name: 'migrate', level: config.CFE_LOG_LEVEL });

let orm: Orm | undefined;
try {
  orm = await openOrm({ databaseUrl: config.DATABASE_URL, pool: 2 });
  const ran = await migrate(orm);
  logger.info({ ran }, 'the database is up to date');
} catch (err) {
  const reason = err instanceof Error ? err.message : undefined;
  logger.fatal({ err, reason }, 'the database could not be brought up to date');
  process.exitCode = 1;
} finally {
  await orm?.close(true);
}
