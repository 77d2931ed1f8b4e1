import { ConfigurationError, type readConfig } from '../config.ts';
import { type DatabaseTimeouts, findMissingMigrations, migrate, type Orm, openOrm } from '../db/orm.ts';
import type { Closers } from './process.ts';

/** Variables for the timeouts of connections. */
export const TIMEOUT_VARIABLES = [
  'CFE_DATABASE_CONNECT_SECONDS',
  'CFE_DATABASE_STATEMENT_SECONDS',
  'CFE_DATABASE_IDLE_TRANSACTION_SECONDS',
] as const;

/** Variables that configure the database. */
export const DATABASE_VARIABLES = [
  'DATABASE_URL',
  'CFE_DATABASE_POOL',
  'CFE_MIGRATE',
  ...TIMEOUT_VARIABLES,
] as const;

/** Returns the configured timeouts. */
export function timeoutsOf(
  config: ReturnType<typeof readConfig<(typeof TIMEOUT_VARIABLES)[number]>>,
): DatabaseTimeouts {
  return {
    connect: toMilliseconds(config.CFE_DATABASE_CONNECT_SECONDS),
    statement: toMilliseconds(config.CFE_DATABASE_STATEMENT_SECONDS),
    idleInTransaction: toMilliseconds(config.CFE_DATABASE_IDLE_TRANSACTION_SECONDS),
  };
}

/** Returns a whole number, at least one: to PostgreSQL, 0 means no timeout. */
const toMilliseconds = (seconds: number): number => Math.max(1, Math.round(seconds * 1_000));

/** Opens the database of a process, with an up-to-date schema, until the process ends. */
export async function openDatabase(
  config: ReturnType<typeof readConfig<(typeof DATABASE_VARIABLES)[number]>>,
  closers: Closers,
): Promise<Orm> {
  const orm = await openOrm({
    databaseUrl: config.DATABASE_URL,
    pool: config.CFE_DATABASE_POOL,
    timeouts: timeoutsOf(config),
  });
  closers.add('database', () => orm.close(true));
  await ensureSchema(orm, config);
  return orm;
}

/** Opens the API's connections for counting requests, until the process ends. */
export async function openCounters(
  config: ReturnType<
    typeof readConfig<'DATABASE_URL' | 'CFE_DATABASE_COUNTER_POOL' | (typeof TIMEOUT_VARIABLES)[number]>
  >,
  closers: Closers,
): Promise<Orm> {
  const orm = await openOrm({
    databaseUrl: config.DATABASE_URL,
    pool: config.CFE_DATABASE_COUNTER_POOL,
    timeouts: timeoutsOf(config),
  });
  closers.add('counters', () => orm.close(true));
  return orm;
}

/**
 * Migrates the database; with CFE_MIGRATE `never`, throws ConfigurationError with the missing migrations instead. Accepts
 * newer migrations, because the previous version keeps running during a rollout (docs/production.md).
 */
export async function ensureSchema(
  orm: Orm,
  { CFE_MIGRATE: when }: ReturnType<typeof readConfig<'CFE_MIGRATE'>>,
): Promise<void> {
  if (when === 'at-start') {
    await migrate(orm);
    return;
  }
  const missing = await findMissingMigrations(orm.em.fork());
  if (missing.length === 0) return;
  throw new ConfigurationError(
    `The database is missing the migrations ${missing.join(', ')}. Run the migrate job first (src/main/migrate.ts): with CFE_MIGRATE=never this process does not migrate.`,
  );
}
