import type { EventEmitter } from 'node:events';
import { isNativeError } from 'node:util/types';
import { Migrator } from '@mikro-orm/migrations';
import { type EntityManager, MikroORM, UnderscoreNamingStrategy } from '@mikro-orm/postgresql';
import { ConfigurationError } from '../config.ts';
import { ENTITIES } from './entities/index.ts';
import { MIGRATIONS } from './migrations/index.ts';
import { grantRights, ownsTables } from './rights.ts';
import { databaseTls, stripParameters } from './tls.ts';

/** Key of the advisory lock for migrations: any number that no other program uses. */
const MIGRATION_LOCK = 4_171_984_001;

/** A database that takes longer than this to answer counts as unreachable. */
const REACHABLE_MILLISECONDS = 1_000;

export type Orm = MikroORM;

/** A source of entity managers: an Orm, or one open transaction. */
export interface Database {
  readonly em: { fork(): EntityManager };
}

/**
 * Returns the open transaction of `em` as a Database: transactions of its users are savepoints, and last only if it
 * commits.
 */
export function shareTransaction(em: EntityManager): Database {
  return { em: { fork: () => em.fork({ keepTransactionContext: true }) } };
}

/** Runs `work` in a transaction that is rolled back. */
export async function rollBackAfter<T>(orm: Database, work: (shared: Database) => Promise<T>): Promise<T> {
  const em = orm.em.fork();
  await em.begin();
  try {
    return await work(shareTransaction(em));
  } finally {
    await em.rollback();
  }
}

/** Time limits for connections to the database, in milliseconds. */
export interface DatabaseTimeouts {
  /** Longest wait for a connection: a new one, or a free one of the pool. */
  readonly connect: number;
  /** Longest run of one statement, waits for locks included; the database cancels it. */
  readonly statement: number;
  /** Longest pause between two statements of a transaction; the database closes the connection. */
  readonly idleInTransaction: number;
}

/**
 * Opens the database; the caller closes it. `pool`: maximum connections. A timeout is an outage by
 * `isDatabaseOutage`. Throws ConfigurationError if the TLS options of the address are invalid (db/tls.ts).
 */
export async function openOrm(options: {
  databaseUrl: string;
  pool: number;
  timeouts?: DatabaseTimeouts;
}): Promise<Orm> {
  const { timeouts } = options;
  const ssl = databaseTls(options.databaseUrl);
  return MikroORM.init({
    clientUrl: stripParameters(options.databaseUrl),
    entities: ENTITIES,
    namingStrategy: UnderscoreNamingStrategy,
    extensions: [Migrator],
    migrations: { migrationsList: MIGRATIONS, tableName: 'migration', snapshot: false },
    pool: { min: 0, max: options.pool },
    driverOptions: {
      onPoolCreated: releaseDeadConnections,
      ...(ssl === undefined ? {} : { ssl }),
      ...(timeouts && {
        connectionTimeoutMillis: timeouts.connect,
        statement_timeout: timeouts.statement,
        idle_in_transaction_session_timeout: timeouts.idleInTransaction,
      }),
    },
    forceUtcTimezone: true,
    // MikroORM's log lines would contain the values of statements.
    logger: () => undefined,
    allowGlobalContext: false,
  });
}

/**
 * Runs missing migrations, in one transaction without timeouts under a lock, and grants the programs' rights; returns
 * the names of the migrations. Throws ConfigurationError if one is missing and another role owns the tables.
 */
export function migrate(orm: Orm): Promise<string[]> {
  return orm.em.fork().transactional(async (em) => {
    await em.execute('set local statement_timeout to 0');
    await em.execute('set local idle_in_transaction_session_timeout to 0');
    await em.execute('select pg_advisory_xact_lock(?)', [MIGRATION_LOCK]);
    const missing = await findMissingMigrations(em);
    const owner = await ownsTables(em);
    if (missing.length > 0) {
      if (!owner) throw notOwnerError(missing);
      await orm.migrator.up({ transaction: em.getTransactionContext() });
    }
    if (owner) await grantRights(em);
    return missing;
  });
}

const notOwnerError = (missing: string[]): ConfigurationError =>
  new ConfigurationError(
    `The database is missing migrations ${missing.join(', ')}, and the role of DATABASE_URL does not own its tables. Run the migrate job first (src/main/migrate.ts), as their owner.`,
  );

/** Returns the names of the missing migrations, in order. Changes nothing. */
export async function findMissingMigrations(em: EntityManager): Promise<string[]> {
  const [table] = await em.execute<{ there: boolean }[]>(
    `select to_regclass('migration') is not null as there`,
  );
  const rows = table?.there ? await em.execute<{ name: string }[]>('select name from migration') : [];
  const ran = new Set(rows.map(({ name }) => name));
  return MIGRATIONS.map(({ name }) => name).filter((name) => !ran.has(name));
}

/** Returns whether the database answers within a second. */
export async function isDatabaseReachable(orm: Orm): Promise<boolean> {
  try {
    return (await withTimeout(REACHABLE_MILLISECONDS, orm.em.fork().execute('select 1'))) !== undefined;
  } catch {
    return false;
  }
}

/** The connections of a process: all, idle ones, and requests that wait for one. */
export interface Pool {
  readonly totalCount: number;
  readonly idleCount: number;
  readonly waitingCount: number;
}

/** Returns the connections of this process; the counts are always current. */
export async function getPool(orm: Orm): Promise<Pool> {
  return orm.em.getConnection().getNativeClient();
}

/** A connection of pg's pool while it is in use. */
interface HeldConnection extends EventEmitter {
  release(destroy?: boolean): void;
}

/**
 * Returns connections to the pool that die during a transaction. Kysely does so only after a successful `commit` or
 * `rollback`, so each restart of the database would shrink the pool permanently.
 */
function releaseDeadConnections(pool: EventEmitter): void {
  const held = new WeakSet<HeldConnection>();
  pool.on('acquire', (connection: HeldConnection) => held.add(connection));
  pool.on('release', (_error: unknown, connection: HeldConnection) => held.delete(connection));
  pool.on('connect', (connection: HeldConnection) => {
    connection.once('end', () => {
      if (!held.has(connection)) return;
      connection.release(true);
      // Its holder may still release it; pg's pool throws at a second release.
      connection.release = () => undefined;
    });
  });
}

/**
 * Returns the result of `promise`, or undefined if it takes longer. The promise then continues; its result and errors
 * are ignored.
 */
export async function withTimeout<T>(milliseconds: number, promise: Promise<T>): Promise<T | undefined> {
  const { promise: timeout, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), milliseconds);
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Codes of sockets, of PostgreSQL (08 connection, 53 resources, 57P01–57P03 shutdown, 58030 I/O, 25006 standby), of
 * our timeouts (57014 statement, 25P03 idle in transaction), of deadlocks (40P01: the other goes first, everything is rolled
 * back), and of failed checks of a server certificate.
 */
const OUTAGE_CODES =
  /^(ECONNREFUSED|ECONNRESET|EPIPE|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|08\w{3}|53\w{3}|57P0[123]|58030|25006|57014|25P03|40P01|ERR_TLS_\w+|ERR_SSL_\w+|CERT_\w+|SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_\w+)$/;
/** Errors of the PostgreSQL driver that have no code, only these messages. */
const OUTAGE_MESSAGES =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Client has encountered a connection error|The server does not support SSL connections)/;

/** Returns whether `error`, or its cause, means that the database is unreachable. */
export function isDatabaseOutage(error: unknown): boolean {
  // A socket error may come from another realm (tests run in their own).
  if (!isNativeError(error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (OUTAGE_CODES.test(code) || OUTAGE_MESSAGES.test(error.message)) return true;
  const inner = error instanceof AggregateError ? error.errors : [error.cause];
  return inner.some(isDatabaseOutage);
}
