import { Migrator } from '@mikro-orm/migrations';
import { type EntityManager, MikroORM, UnderscoreNamingStrategy } from '@mikro-orm/postgresql';
import { ConfigurationError } from '../config.ts';
import { ENTITIES } from './entities/index.ts';
import { MIGRATIONS } from './migrations/index.ts';
import { giveBackTheDead } from './pool.ts';
import { grantRights, ownsTables } from './rights.ts';
import { databaseTls, withoutParameters } from './tls.ts';
import { within } from './within.ts';

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
export function withinTransaction(em: EntityManager): Database {
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
 * Opens the database. `pool`: connections this process may hold; `timeouts`: none unless told. The caller closes it.
 * What a time-out cuts off is an outage by `isDatabaseOutage`. Throws ConfigurationError when the address asks for a TLS
 * that it cannot have (db/tls.ts).
 */
export async function openOrm(options: {
  databaseUrl: string;
  pool: number;
  timeouts?: DatabaseTimeouts;
}): Promise<Orm> {
  const { timeouts } = options;
  const ssl = databaseTls(options.databaseUrl);
  return MikroORM.init({
    clientUrl: withoutParameters(options.databaseUrl),
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
 * Brings the schema up to date; answers the names of the migrations that it ran. Processes that start together wait
 * for one another's advisory lock, so each migration runs once; the later ones find nothing left to do. All of it is one
 * transaction without time-outs: a migration may take as long as the tables are large. The role of the service gets its
 * rights in it, too (db/rights.ts). Throws ConfigurationError where a migration lacks and the tables are another role's.
 */
export function migrate(orm: Orm): Promise<string[]> {
  return orm.em.fork().transactional(async (em) => {
    await em.execute('set local statement_timeout to 0');
    await em.execute('set local idle_in_transaction_session_timeout to 0');
    await em.execute('select pg_advisory_xact_lock(?)', [MIGRATION_LOCK]);
    const lacking = await lackingMigrations(em);
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
export async function lackingMigrations(em: EntityManager): Promise<string[]> {
  const [table] = await em.execute<{ there: boolean }[]>(
    `select to_regclass('migration') is not null as there`,
  );
  const rows = table?.there ? await em.execute<{ name: string }[]>('select name from migration') : [];
  const ran = new Set(rows.map(({ name }) => name));
  return MIGRATIONS.map(({ name }) => name).filter((name) => !ran.has(name));
}

/** Whether the database answers within a second. */
export async function isReachable(orm: Orm): Promise<boolean> {
  try {
    return (await within(REACHABLE_MILLISECONDS, orm.em.fork().execute('select 1'))) !== undefined;
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
export async function poolOf(orm: Orm): Promise<Pool> {
  return orm.em.getConnection().getNativeClient();
}
