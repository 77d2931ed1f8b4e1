import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createAccount } from '../../../src/commands/createAccount.ts';
import { listAudit } from '../../../src/db/audit.ts';
import { MIGRATIONS } from '../../../src/db/migrations/index.ts';
import { migrate, openOrm } from '../../../src/db/orm.ts';
import { ensureSchema } from '../../../src/wiring/database.ts';
import { idleOutbox } from '../../support/commandDeps.ts';
import { cloneDatabase, emptyDatabase, type TestDatabase } from '../../support/database.ts';

/** PostgreSQL: insufficient_privilege. */
const DENIED = { code: '42501' };

describe('the role of the service', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await cloneDatabase({ pool: 2 });
    const deps = { orm: db.orm, clock: () => new Date(), outbox: idleOutbox };
    await createAccount(deps, { name: 'Estudio Sur', email: 'sur@example.com', isDeveloper: false });
  });
  afterAll(() => db[Symbol.asyncDispose]());

  const run = (statement: string) => db.orm.em.fork().execute(statement);

  test.each([
    'create table mine (x integer)',
    'create temporary table mine (x integer); create schema mine',
    'create function mine() returns integer language sql as $$ select 1 $$',
    'alter table cfe add column mine integer',
    'drop table customer',
    'truncate customer',
    'create index mine on cfe (rut)',
    'alter table audit disable trigger all',
    'drop trigger audit_stands on audit',
    'create role mine',
    'alter role cfe_app superuser',
    'set session_replication_role = replica',
    'grant select on cfe to public; create extension pgcrypto',
    "copy cfe to program 'true'",
  ])('cannot: %s', async (statement) => {
    await expect(run(statement)).rejects.toMatchObject(DENIED);
  });

  test('adds to the audit and reads it, and cannot change or remove what stands there', async () => {
    expect(await listAudit(db.orm.em.fork(), {}, 10)).toMatchObject([{ action: 'account.create' }]);

    for (const change of ["update audit set actor = 'nobody'", 'delete from audit', 'truncate audit']) {
      await expect(run(change)).rejects.toMatchObject(DENIED);
    }
    expect(await listAudit(db.orm.em.fork(), {}, 10)).toHaveLength(1);
  });

  test.each(['account', 'api_key', 'cae', 'certificate', 'cfe', 'enterprise', 'payment', 'sobre'])(
    'removes no row of %s',
    async (table) => {
      await expect(run(`delete from ${table}`)).rejects.toMatchObject(DENIED);
    },
  );

  test('reads which migrations ran, and cannot pretend that others did', async () => {
    expect((await run('select name from migration')).length).toBeGreaterThan(0);
    for (const change of ["insert into migration (name) values ('x')", 'delete from migration']) {
      await expect(run(change)).rejects.toMatchObject(DENIED);
    }
  });

  test('finds nothing to migrate without an error, as a program does at its start', async () => {
    expect(await migrate(db.orm)).toEqual([]);
  });
});

test('a database of one role for everything is migrated and used as before', async () => {
  await using database = await emptyDatabase();
  const owner = await aPlainOwner(database.databaseUrl);
  const orm = await openOrm({ databaseUrl: owner.url, pool: 2 });
  try {
    await ensureSchema(orm, { CFE_MIGRATE: 'at-start' });
    await ensureSchema(orm, { CFE_MIGRATE: 'at-start' });

    const deps = { orm, clock: () => new Date(), outbox: idleOutbox };
    await createAccount(deps, { name: 'Estudio Sur', email: 'sur@example.com', isDeveloper: false });
    expect(await listAudit(orm.em.fork(), {}, 10)).toHaveLength(1);
  } finally {
    await orm.close(true);
    await owner.drop();
  }
});

test('the role of the service is told to leave migrating to the owner, who need be nobody special', async () => {
  await using database = await emptyDatabase();
  const { url, drop } = await aPlainOwner(database.databaseUrl);
  const owner = await openOrm({ databaseUrl: url, pool: 2 });
  const service = await openOrm({ databaseUrl: database.serviceUrl, pool: 1 });
  try {
    const refusal = /^The database lacks migrations 0001_start, .* as their owner\.$/;
    await expect(ensureSchema(service, { CFE_MIGRATE: 'at-start' })).rejects.toThrow(refusal);
    await migrate(owner);
    await ensureSchema(service, { CFE_MIGRATE: 'at-start' });
    const last = MIGRATIONS.at(-1)?.name;
    await owner.em.fork().execute('delete from migration where name = ?', [last]);

    await expect(ensureSchema(service, { CFE_MIGRATE: 'at-start' })).rejects.toThrow(
      `The database lacks migrations ${last}, and the role of DATABASE_URL does not own its tables.`,
    );
    await expect(service.em.fork().execute('delete from audit')).rejects.toMatchObject(DENIED);
  } finally {
    await service.close(true);
    await owner.close(true);
    await drop();
  }
});

/** Gives the database to a role that may log in and nothing else; `drop` takes it back, with all that it made. */
async function aPlainOwner(databaseUrl: string): Promise<{ url: string; drop: () => Promise<void> }> {
  const url = new URL(databaseUrl);
  const superuser = await openOrm({ databaseUrl, pool: 1 });
  const em = superuser.em.fork();
  const role = `owner_${randomBytes(6).toString('hex')}`;
  await em.execute(`create role ${role} login password '${decodeURIComponent(url.password)}'`);
  await em.execute(`alter database ${url.pathname.slice(1)} owner to ${role}`);
  url.username = role;
  return {
    url: url.href,
    async drop() {
      await em.execute(`reassign owned by ${role} to current_user; drop owned by ${role}; drop role ${role}`);
      await superuser.close(true);
    },
  };
}

test('the tables of a later migration get their rights with it, and rights too many are taken away', async () => {
  await using database = await emptyDatabase();
  const owner = await openOrm({ databaseUrl: database.databaseUrl, pool: 2 });
  const service = await openOrm({ databaseUrl: database.serviceUrl, pool: 1 });
  try {
    await migrate(owner);
    await owner.em.fork().execute('create table later (x integer); grant delete on audit to cfe_app');
    await expect(service.em.fork().execute('select * from later')).rejects.toMatchObject(DENIED);

    await migrate(owner);

    await service.em
      .fork()
      .execute('insert into later values (1); update later set x = 2; delete from later');
    await expect(service.em.fork().execute('delete from audit')).rejects.toMatchObject(DENIED);
  } finally {
    await service.close(true);
    await owner.close(true);
  }
});
