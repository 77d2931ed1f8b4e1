import { ConfigurationError, type readConfig } from '../config.ts';
import { lackingMigrations, migrate, type Orm, openOrm } from '../db/orm.ts';
import type { Closers } from './process.ts';

/** What the database of a process is opened with. */
export const DATABASE_VARIABLES = ['DATABASE_URL', 'CFE_DATABASE_POOL', 'CFE_MIGRATE'] as const;

/** Opens the database of a process, which closes it at its end, with its schema as `ensureSchema` leaves it. */
export async function openDatabase(
  config: ReturnType<typeof readConfig<(typeof DATABASE_VARIABLES)[number]>>,
  closers: Closers,
): Promise<Orm> {
  const orm = await openOrm({ databaseUrl: config.DATABASE_URL, pool: config.CFE_DATABASE_POOL });
  closers.add('database', () => orm.close(true));
  await ensureSchema(orm, config);
  return orm;
}

/**
 * Brings the database up to date; where CFE_MIGRATE is `never`, only checks that it is. Throws ConfigurationError,
 * which names the missing migrations. Migrations beyond ours are no fault: the programs of the version before keep
 * running while a new one is rolled out (docs/production.md).
 */
export async function ensureSchema(
  orm: Orm,
  { CFE_MIGRATE: when }: ReturnType<typeof readConfig<'CFE_MIGRATE'>>,
): Promise<void> {
  if (when === 'at-start') {
    await migrate(orm);
    return;
  }
  const missing = await lackingMigrations(orm);
  if (missing.length === 0) return;
  throw new ConfigurationError(
    `The database lacks migrations ${missing.join(', ')}. Run the migrate job first (src/main/migrate.ts): with CFE_MIGRATE=never this process does not migrate.`,
  );
}
