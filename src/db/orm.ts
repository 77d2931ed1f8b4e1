import type { EventEmitter } from 'node:events';
import { isNativeError } from 'node:util/types';
import { Migrator } from '@mikro-orm/migrations';
import { type EntityManager, MikroORM, UnderscoreNamingStrategy } from '@mikro-orm/postgresql';
import { ConfigurationError } from '../config.ts';
import { ENTITIES } from './entities/index.ts';
import { MIGRATIONS } from './migrations/index.ts';
import { grantRights, ownsTables } from './rights.ts';
import { databaseTls, stripParameters } from './tls.ts';

/** Any number that no other program uses on the database: holders of this lock migrate. */
const MIGRATION_LOCK = 4_171_984_001;

/** A database that takes longer than this to say anything is not there for us. */
const REACHABLE_MILLISECONDS = 1_000;

export type Orm = MikroORM;

/** Where entity managers come from: an Orm, or one transaction of it that is open already. */
export interface Database {
  readonly em: { fork(): EntityManager };
}

/**
 * The open transaction of `em` as a Database: whatever transactions its users open are parts of it (savepoints), and
 * stand only when it commits.
 */
export function shareTransaction(em: EntityManager): Database {
  return { em: { fork: () => em.fork({ keepTransactionContext: true }) } };
}

/** How long, in milliseconds, a process lets its connections to the database be held up. */
export interface DatabaseTimeouts {
  /** Longest wait for a connection: for a new one to be made, or for one of the pool to be free. */
  readonly connect: number;
  /** Longest run of one statement, waiting for locks included; the database ends it. */
  readonly statement: number;
  /** Longest pause between two statements of a transaction; the database ends the connection. */
  readonly idleInTransaction: number;
}

/**
 * Opens the database, for the caller to close. `pool`: connections at most. A time-out is an outage by `isDatabaseOutage`.
 * Throws ConfigurationError when the address asks for a TLS that it cannot have (db/tls.ts).
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
      onPoolCreated: giveBackTheDead,
      ...(ssl === undefined ? {} : { ssl }),
      ...(timeouts && {
        connectionTimeoutMillis: timeouts.connect,
        statement_timeout: timeouts.statement,
        idle_in_transaction_session_timeout: timeouts.idleInTransaction,
      }),
    },
    forceUtcTimezone: true,
    // Its own lines would quote statements with their values.
    logger: () => undefined,
    allowGlobalContext: false,
  });
}

/**
 * Runs the migrations that lack, in one transaction without time-outs under a lock, and grants the programs' rights; returns
 * their names. Throws ConfigurationError where one lacks and the tables are another role's.
 */
export function migrate(orm: Orm): Promise<string[]> {
  return orm.em.fork().transactional(async (em) => {
    await em.execute('set local statement_timeout to 0');
    await em.execute('set local idle_in_transaction_session_timeout to 0');
    await em.execute('select pg_advisory_xact_lock(?)', [MIGRATION_LOCK]);
    const lacking = await findMissingMigrations(em);
    const owner = await ownsTables(em);
    if (lacking.length > 0) {
      if (!owner) throw notTheOwner(lacking);
      await orm.migrator.up({ transaction: em.getTransactionContext() });
    }
    if (owner) await grantRights(em);
    return lacking;
  });
}

const notTheOwner = (lacking: string[]): ConfigurationError =>
  new ConfigurationError(
    `The database lacks migrations ${lacking.join(', ')}, and the role of DATABASE_URL does not own its tables. Run the migrate job first (src/main/migrate.ts), as their owner.`,
  );

/** The names of the migrations missing in the database, in order. Changes nothing. */
export async function findMissingMigrations(em: EntityManager): Promise<string[]> {
  const [table] = await em.execute<{ there: boolean }[]>(
    `select to_regclass('migration') is not null as there`,
  );
  const rows = table?.there ? await em.execute<{ name: string }[]>('select name from migration') : [];
  const ran = new Set(rows.map(({ name }) => name));
  return MIGRATIONS.map(({ name }) => name).filter((name) => !ran.has(name));
}

/** Whether the database answers within a second. */
export async function isDatabaseReachable(orm: Orm): Promise<boolean> {
  try {
    return (await withTimeout(REACHABLE_MILLISECONDS, orm.em.fork().execute('select 1'))) !== undefined;
  } catch {
    return false;
  }
}

/** The connections of a process: how many it holds, how many of them are idle, how many requests wait for one. */
export interface Pool {
  readonly totalCount: number;
  readonly idleCount: number;
  readonly waitingCount: number;
}

/** The connections of this process, always as they are now. */
export async function getPool(orm: Orm): Promise<Pool> {
  return orm.em.getConnection().getNativeClient();
}

/** A connection of pg's pool while it is in use. */
interface HeldConnection extends EventEmitter {
  release(destroy?: boolean): void;
}

/**
 * Gives connections back to their pool that die while a transaction holds them: Kysely does so only after a `commit` or
 * `rollback` that succeeded, and each restart of the database would cost the pool places for good.
 */
function giveBackTheDead(pool: EventEmitter): void {
  const held = new WeakSet<HeldConnection>();
  pool.on('acquire', (connection: HeldConnection) => held.add(connection));
  pool.on('release', (_error: unknown, connection: HeldConnection) => held.delete(connection));
  pool.on('connect', (connection: HeldConnection) => {
    connection.once('end', () => {
      if (!held.has(connection)) return;
      connection.release(true);
      // Whoever holds it may still give it back; the pool would throw at the second time.
      connection.release = () => undefined;
    });
  });
}

/** What `promise` comes to, or undefined when that takes longer. It goes on by itself then, and may fail unheard. */
export async function withTimeout<T>(milliseconds: number, promise: Promise<T>): Promise<T | undefined> {
  const { promise: tooLong, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), milliseconds);
  try {
    return await Promise.race([promise, tooLong]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Codes of the socket, of PostgreSQL (08 connection, 53 resources, 57P01–57P03 shutdown, 58030 I/O, 25006 standby), of our own
 * time-outs (57014 a statement, 25P03 a pause in a transaction), and of a server whose certificate is not the right one.
 */
const CODES =
  /^(ECONNREFUSED|ECONNRESET|EPIPE|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|08\w{3}|53\w{3}|57P0[123]|58030|25006|57014|25P03|ERR_TLS_\w+|ERR_SSL_\w+|CERT_\w+|SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_\w+)$/;
/** Errors of the PostgreSQL driver that carry no code, only these messages. */
const WORDS =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Client has encountered a connection error|The server does not support SSL connections)/;

/** Whether `error`, or its cause, means that the database is out of reach. */
export function isDatabaseOutage(error: unknown): boolean {
  // An error of the socket may come from another realm than ours (tests run in one of their own).
  if (!isNativeError(error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (CODES.test(code) || WORDS.test(error.message)) return true;
  const inner = error instanceof AggregateError ? error.errors : [error.cause];
  return inner.some(isDatabaseOutage);
}
