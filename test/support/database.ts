import { randomBytes } from 'node:crypto';
import { migrate, type Orm, openOrm } from '../../src/db/orm.ts';
import { ensureAppRole } from '../../src/db/rights.ts';

/** The database that `buildTemplate` leaves behind and every clone is copied from. */
const TEMPLATE = 'cfe_template';

export interface TestDatabase {
  [Symbol.asyncDispose](): Promise<void>;
  /** As the role of the service, with its rights and no others. */
  orm: Orm;
  databaseUrl: string;
  /** As the owner of the tables. */
  ownerUrl: string;
  /** What only the owner may do. */
  asOwner(...statements: string[]): Promise<void>;
}

/** The server that tests use; set by the services of the run (test/support/services.ts). */
function serverUrl(): string {
  const url = process.env['CFE_TEST_POSTGRES_URL'];
  if (!url)
    throw new Error('CFE_TEST_POSTGRES_URL is not set: run tests by `npm test` or with the jest globalSetup');
  return url;
}

export const withDatabase = (url: string, name: string): string => {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
};

/** The same address for the role of the service, which has the password of the owner in tests. */
const asService = (url: string): string => {
  const changed = new URL(url);
  changed.username = 'cfe_app';
  return changed.href;
};

export const onServer = (statements: string[]): Promise<void> => execute(serverUrl(), statements);

async function execute(databaseUrl: string, statements: string[]): Promise<void> {
  const orm = await openOrm({ databaseUrl, pool: 1 });
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
  await ensureAppRole(orm.em.fork(), decodeURIComponent(new URL(serverUrl()).password));
  await orm.em.fork().execute('alter role cfe_app set synchronous_commit = off');
  await migrate(orm);
  await orm.close(true);
}

/** A database of the caller's own, migrated and empty unless it is a copy of another; gone when disposed. */
export async function cloneDatabase(options: { pool?: number; of?: string } = {}): Promise<TestDatabase> {
  const name = `cfe_test_${randomBytes(6).toString('hex')}`;
  // A large one is copied as files, not page by page through the log.
  const template = options.of ? `${options.of} strategy file_copy` : TEMPLATE;
  await onServer([`create database ${name} template ${template}`]);
  const ownerUrl = withDatabase(serverUrl(), name);
  const databaseUrl = asService(ownerUrl);
  const orm = await openOrm({ databaseUrl, pool: options.pool ?? 10 });
  return {
    orm,
    databaseUrl,
    ownerUrl,
    asOwner: (...statements) => execute(ownerUrl, statements),
    async [Symbol.asyncDispose]() {
      await orm.close(true);
      await onServer([`drop database if exists ${name} with (force)`]);
    },
  };
}

/** An empty database that is not migrated, by its owner and by the role of the service; for tests of migrating. */
export async function emptyDatabase(): Promise<{
  databaseUrl: string;
  serviceUrl: string;
  [Symbol.asyncDispose](): Promise<void>;
}> {
  const name = `cfe_test_${randomBytes(6).toString('hex')}`;
  await onServer([`create database ${name}`]);
  const databaseUrl = withDatabase(serverUrl(), name);
  return {
    databaseUrl,
    serviceUrl: asService(databaseUrl),
    async [Symbol.asyncDispose]() {
      await onServer([`drop database if exists ${name} with (force)`]);
    },
  };
}
