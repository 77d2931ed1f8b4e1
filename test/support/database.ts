import { randomBytes } from 'node:crypto';
import { migrate, type Orm, openOrm } from '../../src/db/orm.ts';

/** The database that `buildTemplate` leaves behind and every clone is copied from. */
const TEMPLATE = 'cfe_template';

export interface TestDatabase {
  [Symbol.asyncDispose](): Promise<void>;
  orm: Orm;
  databaseUrl: string;
}

/** The server that tests use; set by the services of the run (test/support/services.ts). */
function serverUrl(): string {
  const url = process.env['CFE_TEST_POSTGRES_URL'];
  if (!url)
    throw new Error('CFE_TEST_POSTGRES_URL is not set: run tests by `npm test` or with the jest globalSetup');
  return url;
}

const withDatabase = (url: string, name: string): string => {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
};

async function onServer(statements: string[]): Promise<void> {
  const orm = await openOrm({ databaseUrl: serverUrl(), pool: 1 });
  try {
    for (const statement of statements) await orm.em.fork().execute(statement);
  } finally {
    await orm.close(true);
  }
}

/** Makes the migrated template anew; once a run. Nobody waits for the disk: what is lost by a crash was to be thrown away. */
export async function buildTemplate(): Promise<void> {
  await onServer([
    'alter role current_user set synchronous_commit = off',
    `drop database if exists ${TEMPLATE}`,
    `create database ${TEMPLATE}`,
  ]);
  const orm = await openOrm({ databaseUrl: withDatabase(serverUrl(), TEMPLATE), pool: 2 });
  await migrate(orm);
  await orm.close(true);
}

/** A database of the caller's own, migrated and empty; gone when disposed. */
export async function cloneDatabase(options: { pool?: number } = {}): Promise<TestDatabase> {
  const name = `cfe_test_${randomBytes(6).toString('hex')}`;
  await onServer([`create database ${name} template ${TEMPLATE}`]);
  const databaseUrl = withDatabase(serverUrl(), name);
  const orm = await openOrm({ databaseUrl, pool: options.pool ?? 10 });
  return {
    orm,
    databaseUrl,
    async [Symbol.asyncDispose]() {
      await orm.close(true);
      await onServer([`drop database if exists ${name} with (force)`]);
    },
  };
}

/** An empty database that is not migrated; for tests of migrating. */
export async function emptyDatabase(): Promise<{
  databaseUrl: string;
  [Symbol.asyncDispose](): Promise<void>;
}> {
  const name = `cfe_test_${randomBytes(6).toString('hex')}`;
  await onServer([`create database ${name}`]);
  return {
    databaseUrl: withDatabase(serverUrl(), name),
    async [Symbol.asyncDispose]() {
      await onServer([`drop database if exists ${name} with (force)`]);
    },
  };
}
