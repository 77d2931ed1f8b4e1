import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createAccount } from '../../../src/commands/people/accounts.ts';
import { AuthorityEndpoint } from '../../../src/db/entities/authority.ts';
import { MIGRATIONS } from '../../../src/db/migrations/index.ts';
import { listAudit } from '../../../src/db/operations/audit.ts';
import { migrate, type Orm, openOrm } from '../../../src/db/orm.ts';
import { databaseRoleOf, PROGRAMS, type Program, RIGHTS } from '../../../src/db/rights.ts';
import { ENDPOINTS } from '../../../src/domain/authority/breaker.ts';
import { createBreakers } from '../../../src/gate/breakers.ts';
import { ensureSchema } from '../../../src/wiring/database.ts';
import { idleOutbox } from '../../support/commandDeps.ts';
import { cloneDatabase, emptyDatabase, type TestDatabase } from '../../support/database/database.ts';

/** PostgreSQL: insufficient_privilege. */
const DENIED = { code: '42501' };
const VERBS = ['select', 'insert', 'update', 'delete', 'truncate', 'references', 'trigger'] as const;
type Verb = (typeof VERBS)[number];

let db: TestDatabase;
const orms = new Map<Program, Orm>();
/** The columns of each table, the generated ones left out. */
const columns = new Map<string, string[]>();

beforeAll(async () => {
  db = await cloneDatabase({ pool: 2 });
  for (const program of PROGRAMS) {
    orms.set(program, await openOrm({ databaseUrl: db.urlOf(program), pool: 1 }));
  }
  const rows = await db.orm.em.fork().execute<{ table: string; columns: string[] }[]>(
    `select relname as "table", array_agg(attname::text order by attnum) as columns
     from pg_class join pg_attribute on attrelid = pg_class.oid
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm')
       and attnum > 0 and not attisdropped and attgenerated = '' group by 1`,
  );
  for (const row of rows) columns.set(row.table, row.columns);
});
afterAll(async () => {
  for (const orm of orms.values()) await orm.close(true);
  await db?.[Symbol.asyncDispose]();
});

/** Runs a statement as a program, and undoes it. */
async function runAs(program: Program, statement: string): Promise<void> {
  const em = orms.get(program)?.em.fork();
  await em?.begin();
  try {
    await em?.execute(statement);
  } finally {
    await em?.rollback();
  }
}

/** What a program may do with a table by the table of rights: each verb with its columns, `true` for all of them. */
function granted(table: string, program: Program): Map<string, true | string[]> {
  const rights = RIGHTS[table]?.[program] ?? '';
  return new Map(
    [...rights.matchAll(/(\w+)(?: \(([^)]*)\))?(?:, |$)/g)].map(([, verb = '', names]) => [
      verb,
      names === undefined ? true : names.split(', '),
    ]),
  );
}

/** Touches nothing, and asks for the right all the same. */
function statementOf(verb: Verb, table: string, column: string): string {
  if (verb === 'select') return `select ${column} from ${table} where false`;
  if (verb === 'insert')
    return `insert into ${table} (${column}) overriding system value select null where false`;
  if (verb === 'update') return `update ${table} set ${column} = default where false`;
  if (verb === 'delete') return `delete from ${table} where false`;
  return `truncate ${table}`;
}

/** As whom each program writes into the audit, of its own accord. */
const OWN_ACTORS: Readonly<Record<Program, string>> = {
  api: 'account:0c0e1ab1-0000-4000-8000-000000000001',
  console: 'console:ana@example.com',
  worker: 'service',
  operator: 'cli:ana',
};
const auditRow = (actor: string): string =>
  `insert into audit (at, actor, action, subject) values (now(), '${actor}', 'b', 'c')`;
const runRow = (actor: string): string =>
  `insert into run (id, kind, actor, reason, filter, state, total, done, unneeded, refused, created_at, moved_at)
   values ('r', 'retry', '${actor}', 'x', '{}', 'RUNNING', 0, 0, 0, 0, now(), now())`;

describe('the table of rights', () => {
  test('names every table of the database, and no other', () => {
    const words = 'name it in RIGHTS (src/db/rights.ts), with what each program does with it, and no more';
    const unnamed = [...columns.keys()].filter((table) => !(table in RIGHTS));
    expect(unnamed.map((table) => `${table}: ${words}`)).toEqual([]);
    expect(Object.keys(RIGHTS).filter((table) => !columns.has(table))).toEqual([]);
  });

  test.each(PROGRAMS)(
    'is what PostgreSQL holds of %s, verb by verb and column by column',
    async (program) => {
      const rows = await db.orm.em
        .fork()
        .execute<{ table: string; verb: Verb; column: string; has: boolean }[]>(
          `select relname as "table", verb, attname::text as column,
         case when verb in ('delete', 'truncate', 'trigger') then has_table_privilege(?, pg_class.oid, verb)
           else has_column_privilege(?, pg_class.oid, attname, verb) end as has
       from pg_class join pg_attribute on attrelid = pg_class.oid, unnest(?::text[]) as verb
       where relnamespace = 'public'::regnamespace and relkind = 'r'
         and attnum > 0 and not attisdropped`,
          [databaseRoleOf(program), databaseRoleOf(program), `{${VERBS.join()}}`],
        );
      const wrong = rows.filter(({ table, verb, column, has }) => {
        const names = granted(table, program).get(verb) ?? [];
        return has !== (names === true || names.includes(column));
      });
      expect(wrong).toEqual([]);
    },
  );

  test.each(PROGRAMS)('what it does not grant to %s is refused', async (program) => {
    const beyond = [...columns].flatMap(([table, names]) =>
      (['select', 'insert', 'update', 'delete', 'truncate'] as const).flatMap((verb) => {
        const has = granted(table, program).get(verb);
        const lacking = has === true ? [] : names.filter((name) => !has?.includes(name));
        return lacking.map((column) => statementOf(verb, table, column));
      }),
    );
    expect(beyond.length).toBeGreaterThan(200);
    // Each is tried by itself; what is done, or refused for another reason, ends it all.
    await runAs(
      program,
      `do $do$ declare beyond text; begin
         foreach beyond in array array[${[...new Set(beyond)].map((one) => `'${one}'`).join()}] loop
           begin
             execute beyond;
             raise exception 'not refused: %', beyond;
           exception when insufficient_privilege then null;
           end;
         end loop;
       end $do$`,
    );
  });

  // What a thief could make of one program: whoever changes these rights, changes what docs/security.md promises.
  test.each<[Program, Verb, string[]]>([
    [
      'api',
      'select',
      ['person', 'console_session', 'invitation', 'account_invitation', 'membership', 'saved_filter'],
    ],
    [
      'api',
      'insert',
      ['person', 'console_session', 'invitation', 'account_invitation', 'membership', 'api_key'],
    ],
    [
      'api',
      'insert',
      ['enterprise_grant', 'rate_limit', 'authority_certificate', 'account', 'plan', 'webhook'],
    ],
    [
      'api',
      'update',
      ['person', 'console_session', 'membership', 'enterprise_grant', 'account', 'webhook', 'plan'],
    ],
    ['api', 'delete', ['enterprise_grant', 'cfe', 'audit', 'api_key', 'idempotent_answer']],
    ['console', 'insert', ['authority_certificate', 'plan', 'idempotent_answer']],
    ['console', 'update', ['sobre', 'authority_certificate', 'audit']],
    [
      'worker',
      'insert',
      ['person', 'console_session', 'invitation', 'membership', 'api_key', 'enterprise_grant'],
    ],
    ['worker', 'update', ['person', 'console_session', 'membership', 'api_key', 'enterprise_grant', 'audit']],
    ['worker', 'select', ['person', 'membership', 'api_key', 'saved_filter']],
    ['operator', 'insert', ['console_session', 'idempotent_answer']],
    ['operator', 'update', ['audit', 'sobre', 'sobre_cfe', 'cfe_reference']],
    ['operator', 'delete', ['audit', 'cfe', 'enterprise', 'person', 'api_key']],
  ])('%s has no right to %s: %s', (program, verb, tables) => {
    expect(tables.filter((table) => granted(table, program).has(verb))).toEqual([]);
  });

  test.each(PROGRAMS)('%s counts a failed call of the authority', async (program) => {
    const orm = orms.get(program);
    if (!orm) throw new Error(`${program} has no connection`);
    const permit = await createBreakers({ orm }).permit({ endpoint: ENDPOINTS[0], isProbe: false });
    await permit?.ended('failed');
    expect(await db.orm.em.fork().count(AuthorityEndpoint, { name: ENDPOINTS[0] })).toBe(1);
  });

  test('the worker removes old sessions of the console and reads none', async () => {
    await runAs('worker', 'delete from console_session where created_at < now()');
    await expect(runAs('worker', 'select token_hash from console_session')).rejects.toMatchObject(DENIED);
  });

  test('API and console seal private keys and cannot read them; a CFE is changed by the worker alone; the API changes neither whose an enterprise is nor its status', async () => {
    for (const program of ['api', 'console'] as const) {
      await runAs(program, 'select subject from certificate');
      await expect(runAs(program, 'select sealed_key from certificate')).rejects.toMatchObject(DENIED);
    }
    for (const program of ['api', 'console', 'operator'] as const) {
      for (const column of ['status', 'signed_xml', 'document', 'numero'])
        await expect(runAs(program, `update cfe set ${column} = null`)).rejects.toMatchObject(DENIED);
    }
    for (const column of ['owner_account_id', 'status', 'login_status', 'permissions', 'suspension_reason']) {
      await expect(runAs('api', `update enterprise set ${column} = null`)).rejects.toMatchObject(DENIED);
    }
  });
});

describe('every program', () => {
  test.each([
    'create table mine (x integer)',
    'create schema mine',
    'create function mine() returns integer language sql as $$ select 1 $$',
    'alter table cfe add column mine integer',
    'drop table customer',
    'create index mine on cfe (rut)',
    'alter table audit disable trigger all',
    'drop trigger audit_stands on audit',
    'create role mine',
    'set session_replication_role = replica',
    'grant select on cfe to public; create extension pgcrypto',
    "copy cfe to program 'true'",
    'set role cfe_operator; alter role cfe_api superuser',
    'delete from migration',
    "insert into migration (name) values ('x')",
  ])('cannot: %s', async (statement) => {
    for (const program of PROGRAMS) await expect(runAs(program, statement)).rejects.toMatchObject(DENIED);
  });

  test('acts as no other program', async () => {
    for (const program of PROGRAMS) {
      for (const other of PROGRAMS.filter((one) => one !== program)) {
        await expect(runAs(program, `set role ${databaseRoleOf(other)}`)).rejects.toMatchObject(DENIED);
      }
    }
  });

  test('adds to the audit, and neither changes nor removes what stands there', async () => {
    for (const program of PROGRAMS) {
      await runAs(program, auditRow(OWN_ACTORS[program]));
      for (const change of ["update audit set actor = 'nobody'", 'delete from audit', 'truncate audit']) {
        await expect(runAs(program, change)).rejects.toMatchObject(DENIED);
      }
    }
  });

  test('says of nobody else that they did something; the worker alone writes in the name of who asked it', async () => {
    const actors = [...Object.values(OWN_ACTORS), 'unverified', 'account', 'CLI:ana', 'xcli:ana'];
    for (const program of PROGRAMS.filter((one) => one !== 'worker')) {
      for (const actor of actors.filter((one) => one !== OWN_ACTORS[program]))
        await expect(runAs(program, auditRow(actor))).rejects.toMatchObject(DENIED);
    }
    for (const actor of actors) await runAs('worker', auditRow(actor));
  });

  test('starts no bulk run in the name of another, from which the worker would take who acts', async () => {
    const programs = ['console', 'operator'] as const;
    for (const program of programs) {
      const own = OWN_ACTORS[program];
      await runAs(program, runRow(own));
      const changed = `update run set actor = 'service' where id = 'r'`;
      await expect(runAs(program, `${runRow(own)}; ${changed}`)).rejects.toMatchObject(DENIED);
      for (const other of programs.filter((one) => one !== program))
        await expect(runAs(program, runRow(OWN_ACTORS[other]))).rejects.toMatchObject(DENIED);
    }
  });

  test('finds nothing to migrate without an error, as at its start', async () => {
    for (const orm of orms.values()) expect(await migrate(orm)).toEqual([]);
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

test('a program is told to leave migrating to the owner, who need be nobody special', async () => {
  await using database = await emptyDatabase();
  const { url, drop } = await aPlainOwner(database.databaseUrl);
  const owner = await openOrm({ databaseUrl: url, pool: 2 });
  const service = await openOrm({ databaseUrl: database.urlOf('api'), pool: 1 });
  try {
    const refusal = /^The database is missing migrations 0001_baseline, .* as their owner\.$/;
    await expect(ensureSchema(service, { CFE_MIGRATE: 'at-start' })).rejects.toThrow(refusal);
    await migrate(owner);
    await ensureSchema(service, { CFE_MIGRATE: 'at-start' });
    const last = MIGRATIONS.at(-1)?.name;
    await owner.em.fork().execute('delete from migration where name = ?', [last]);

    await expect(ensureSchema(service, { CFE_MIGRATE: 'at-start' })).rejects.toThrow(
      `The database is missing migrations ${last}, and the role of DATABASE_URL does not own its tables.`,
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

test('each run of the migrations takes away what was granted beyond the table, on tables of nobody too', async () => {
  await using database = await emptyDatabase();
  const owner = await openOrm({ databaseUrl: database.databaseUrl, pool: 2 });
  const service = await openOrm({ databaseUrl: database.urlOf('api'), pool: 1 });
  try {
    await migrate(owner);
    await owner.em
      .fork()
      .execute(
        'create table later (x integer); grant select on later to cfe_api; grant update (actor), delete on audit to cfe_api',
      );
    await service.em.fork().execute('select * from later');

    await migrate(owner);

    for (const beyond of ['select * from later', "update audit set actor = 'x'", 'delete from audit']) {
      await expect(service.em.fork().execute(beyond)).rejects.toMatchObject(DENIED);
    }
  } finally {
    await service.close(true);
    await owner.close(true);
  }
});
