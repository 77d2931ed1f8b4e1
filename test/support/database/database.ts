import { randomBytes } from 'node:crypto';
import { MikroORM } from '@mikro-orm/postgresql';
import { migrate, type Orm, openOrm } from '../../../src/db/orm.ts';
import { databaseRoleOf, ensureRoles, PROGRAMS, type Program } from '../../../src/db/rights.ts';
import { EMITTED_AS_DESCRIBED } from '../api/emittedEvents.ts';

/** The database that `buildTemplate` leaves behind and every clone is copied from. */
const TEMPLATE = 'cfe_template';

export interface TestDatabase {
  [Symbol.asyncDispose](): Promise<void>;
  /** As the tests, which may do anything with rows; startApi, startConsole and others take the role of their program. */
  orm: Orm;
  databaseUrl: string;
  /** As the worker alone, where it was asked for. */
  worker: Orm;
  /** As one program alone. */
  urlOf(program: Program): string;
  /** As the owner of the tables. */
  ownerUrl: string;
  /** What only the owner may do. */
  asOwner(...statements: string[]): Promise<void>;
}

/** The server that tests use; set by the services of the run (test/support/processes/services.ts). */
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

/** The role of tests, which do what every program does and more: all with rows, nothing with tables. */
const TESTS = 'cfe_tests';

const asRole = (url: string, role: string): string => {
  const changed = new URL(url);
  changed.username = role;
  return changed.href;
};

/** The same address for a program's role. In tests all roles have one password. */
export const asProgram = (url: string, program: Program): string => asRole(url, databaseRoleOf(program));

/** The password of the owner for every program. */
export function samePasswords(databaseUrl: string): Record<Program, string> {
  const password = decodeURIComponent(new URL(databaseUrl).password);
  return { api: password, console: password, worker: password, operator: password };
}

/** A connection whose every event is held against its description. */
async function openWatched(databaseUrl: string, pool: number): Promise<Orm> {
  const orm = await openOrm({ databaseUrl, pool });
  orm.em.getEventManager().registerSubscriber(EMITTED_AS_DESCRIBED);
  return orm;
}

/** One like `orm` in the program's role; `close` closes it. The stand-in of a unit test stays what it is. */
export async function ormAs(orm: Orm, program: Program): Promise<{ orm: Orm; close: () => Promise<void> }> {
  if (!(orm instanceof MikroORM)) return { orm, close: async () => undefined };
  const url = orm.config.get('clientUrl') ?? '';
  const own = await openWatched(asProgram(url, program), orm.config.get('pool').max ?? 1);
  return { orm: own, close: () => own.close(true) };
}

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
  const passwords = samePasswords(serverUrl());
  await ensureRoles(orm.em.fork(), passwords);
  for (const statement of [
    `do $$ begin create role ${TESTS} login; exception when duplicate_object then end $$`,
    `alter role ${TESTS} password '${passwords.api}'`,
    `grant usage on schema public to ${TESTS}`,
    `alter default privileges in schema public grant select, insert, update, delete on tables to ${TESTS}`,
    ...[...PROGRAMS.map(databaseRoleOf), TESTS].map(
      (role) => `alter role ${role} set synchronous_commit = off`,
    ),
  ])
    await orm.em.fork().execute(statement);
  await migrate(orm);
  await orm.close(true);
}

/** A database of the caller's own, migrated and empty unless it is a copy of another; gone when disposed. */
export async function cloneDatabase(
  options: { pool?: number; of?: string; worker?: boolean } = {},
): Promise<TestDatabase> {
  const name = `cfe_test_${randomBytes(6).toString('hex')}`;
  // A large one is copied as files, not page by page through the log.
  const template = options.of ? `${options.of} strategy file_copy` : TEMPLATE;
  await onServer([`create database ${name} template ${template}`]);
  const ownerUrl = withDatabase(serverUrl(), name);
  const databaseUrl = asRole(ownerUrl, TESTS);
  const { pool = 10 } = options;
  const orm = await openWatched(databaseUrl, pool);
  const worker = options.worker ? await openWatched(asProgram(ownerUrl, 'worker'), pool) : null;
  return {
    orm,
    databaseUrl,
    ownerUrl,
    urlOf: (program) => asProgram(ownerUrl, program),
    get worker() {
      if (!worker) throw new Error('open it: cloneDatabase({ worker: true })');
      return worker;
    },
    asOwner: (...statements) => execute(ownerUrl, statements),
    async [Symbol.asyncDispose]() {
      await orm.close(true);
      await worker?.close(true);
      await onServer([`drop database if exists ${name} with (force)`]);
    },
  };
}

/** An empty database that is not migrated, by its owner and by a program's role; for tests of migrating. */
export async function emptyDatabase(): Promise<{
  databaseUrl: string;
  urlOf(program: Program): string;
  [Symbol.asyncDispose](): Promise<void>;
}> {
  const name = `cfe_test_${randomBytes(6).toString('hex')}`;
  await onServer([`create database ${name}`]);
  const databaseUrl = withDatabase(serverUrl(), name);
  return {
    databaseUrl,
    urlOf: (program) => asProgram(databaseUrl, program),
    async [Symbol.asyncDispose]() {
      await onServer([`drop database if exists ${name} with (force)`]);
    },
  };
}
