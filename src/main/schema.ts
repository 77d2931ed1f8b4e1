import { ConfigurationError, type readConfig } from '../config.ts';
import { lackingMigrations, migrate, type Orm } from '../db/orm.ts';

/**
 * Brings the database up to date; or, where CFE_MIGRATE is `never`, only looks whether that has been done. Throws
 * ConfigurationError, which names the migrations that lack. What the database has beyond ours is no fault: the programs
 * of the version before run on while the new one is rolled out (docs/production.md).
 */
export async function ensureSchema(
  orm: Orm,
  { CFE_MIGRATE: when }: ReturnType<typeof readConfig<'CFE_MIGRATE'>>,
): Promise<void> {
  if (when === 'at-start') {
    await migrate(orm);
    return;
  }
  const lacking = await lackingMigrations(orm);
  if (lacking.length === 0) return;
  throw new ConfigurationError(
    `The database lacks the migrations ${lacking.join(', ')}: run the job first (npm run migrate), for CFE_MIGRATE is never.`,
  );
}
