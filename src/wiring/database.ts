import { ConfigurationError, type readConfig } from '../config.ts';
import { type DatabaseTimeouts, findMissingMigrations, migrate, type Orm, openOrm } from '../db/orm.ts';
import type { Closers } from './process.ts';

/** The time-outs of the connections of a process. */
export const TIMEOUT_VARIABLES = [
  'CFE_DATABASE_CONNECT_SECONDS',
  'CFE_DATABASE_STATEMENT_SECONDS',
  'CFE_DATABASE_IDLE_TRANSACTION_SECONDS',
] as const;

/** What the database of a process is opened with. */
export const DATABASE_VARIABLES = [
  'DATABASE_URL',
  'CFE_DATABASE_POOL',
  'CFE_MIGRATE',
  ...TIMEOUT_VARIABLES,
] as const;

/** The time-outs that are configured. */
export function timeoutsOf(
  config: ReturnType<typeof readConfig<(typeof TIMEOUT_VARIABLES)[number]>>,
): DatabaseTimeouts {
  return {
    connect: milliseconds(config.CFE_DATABASE_CONNECT_SECONDS),
    statement: milliseconds(config.CFE_DATABASE_STATEMENT_SECONDS),
    idleInTransaction: milliseconds(config.CFE_DATABASE_IDLE_TRANSACTION_SECONDS),
  };
}

/** Whole and at least one: to PostgreSQL, 0 is no time-out. */
const milliseconds = (seconds: number): number => Math.max(1, Math.round(seconds * 1_000));

/** Opens the database of a process, which closes it at its end, with its schema as `ensureSchema` leaves it. */
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

/** The connections of the API for counting requests, which it closes at its end. */
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
  const missing = await findMissingMigrations(orm.em.fork());
  if (missing.length === 0) return;
  throw new ConfigurationError(
    `The database lacks migrations ${missing.join(', ')}. Run the migrate job first (src/main/migrate.ts): with CFE_MIGRATE=never this process does not migrate.`,
  );
}
