import { Migrator } from '@mikro-orm/migrations';
import { type EntityManager, MikroORM, UnderscoreNamingStrategy } from '@mikro-orm/postgresql';
import { ENTITIES } from './entities/index.ts';
import { MIGRATIONS } from './migrations/index.ts';

/** Any number that no other program uses on the database: holders of this lock migrate. */
const MIGRATION_LOCK = 4_171_984_001;

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

/** Opens the database. `pool`: connections this process may hold. The caller closes it. */
export function openOrm(options: { databaseUrl: string; pool: number }): Promise<Orm> {
  return MikroORM.init({
    clientUrl: options.databaseUrl,
    entities: ENTITIES,
    namingStrategy: UnderscoreNamingStrategy,
    extensions: [Migrator],
    migrations: { migrationsList: MIGRATIONS, tableName: 'migration', snapshot: false },
    pool: { min: 0, max: options.pool },
    forceUtcTimezone: true,
    // Its own lines would quote statements with their values.
    logger: () => undefined,
    allowGlobalContext: false,
  });
}

/**
 * Brings the schema up to date. Processes that start together take turns by an advisory lock, so each migration runs
 * once; the later ones wait and find nothing left to do.
 */
export async function migrate(orm: Orm): Promise<void> {
  await orm.em.fork().transactional(async (em) => {
    await em.execute('select pg_advisory_xact_lock(?)', [MIGRATION_LOCK]);
    await orm.migrator.up();
  });
}

/** Whether the database answers. */
export async function isReachable(orm: Orm): Promise<boolean> {
  try {
    await orm.em.fork().execute('select 1');
    return true;
  } catch {
    return false;
  }
}
