import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readConfig } from '../../../src/config.ts';
import { type DatabaseTimeouts, isDatabaseOutage, migrate, type Orm, openOrm } from '../../../src/db/orm.ts';
import { DATABASE_VARIABLES, openCounters, openDatabase, timeoutsOf } from '../../../src/wiring/database.ts';
import { startApi } from '../../support/api/api.ts';
import { expectRefusal } from '../../support/api/expectRefusal.ts';
import { cliOn } from '../../support/cli.ts';
import { cloneDatabase, emptyDatabase, type TestDatabase } from '../../support/database/database.ts';
import { anEnterprise } from '../../support/enterprises/enterprises.ts';
import { until } from '../../support/until.ts';

/** Longer than any test: what is not under test does not cut in. */
const LONG = 600_000;
const SHORT = 200;

let db: TestDatabase;
beforeAll(async () => {
  db = await cloneDatabase();
});
afterAll(() => db?.[Symbol.asyncDispose]());

const opened = (timeouts: Partial<DatabaseTimeouts>, databaseUrl = db.databaseUrl) =>
  openOrm({
    databaseUrl,
    pool: 1,
    timeouts: { connect: LONG, statement: LONG, idleInTransaction: LONG, ...timeouts },
  });

/** Runs `work` on a database opened so, and closes it. */
async function withOrm<T>(orm: Orm, work: (orm: Orm) => Promise<T>): Promise<T> {
  try {
    return await work(orm);
  } finally {
    await orm.close(true);
  }
}

const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'nothing failed',
    (error: unknown) => error,
  );
const one = (orm: Orm) => orm.em.fork().execute('select 1 as one');

describe('time-outs of the database', () => {
  test('a statement that runs too long is ended, as an outage; its connection goes on', async () => {
    await withOrm(await opened({ statement: SHORT }), async (orm) => {
      const failure = await failureOf(orm.em.fork().execute('select pg_sleep(600)'));

      expect(String(failure)).toContain('statement timeout');
      expect(isDatabaseOutage(failure)).toBe(true);
      expect(await one(orm)).toEqual([{ one: 1 }]);
    });
  });

  test('waiting for a lock counts as running', async () => {
    await withOrm(await opened({ statement: SHORT }), async (orm) => {
      const holding = db.orm.em.fork();
      await holding.begin();
      await holding.execute('select pg_advisory_xact_lock(1)');

      const failure = await failureOf(orm.em.fork().execute('select pg_advisory_lock(1)'));

      await holding.rollback();
      expect(isDatabaseOutage(failure)).toBe(true);
    });
  });

  test('a transaction that pauses too long loses its connection and its locks; the pool gets the place back', async () => {
    await withOrm(await opened({ idleInTransaction: SHORT }), async (orm) => {
      const pausing = orm.em.fork();
      await pausing.begin();
      const [row] = await pausing.execute<{ pid: number }[]>(
        'select pg_backend_pid() as pid, pg_advisory_xact_lock(2)',
      );
      await until('the connection has been ended', 5, async () => {
        const left = await db.orm.em
          .fork()
          .execute<unknown[]>('select 1 from pg_stat_activity where pid = ?', [row?.pid]);
        return left.length === 0;
      });

      expect(isDatabaseOutage(await failureOf(pausing.execute('select 1')))).toBe(true);

      await db.orm.em.fork().execute('select pg_advisory_lock(2), pg_advisory_unlock(2)');
      expect(await one(orm)).toEqual([{ one: 1 }]);
    });
  });

  test('who gets no connection of the pool in time is told so', async () => {
    await withOrm(await opened({ connect: SHORT }), async (orm) => {
      await orm.em.fork().transactional(async (em) => {
        await em.execute('select 1');
        expect(isDatabaseOutage(await failureOf(one(orm)))).toBe(true);
      });
      expect(await one(orm)).toEqual([{ one: 1 }]);
    });
  });

  test('a server that takes the connection and says nothing is given up', async () => {
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    try {
      await withOrm(await opened({ connect: SHORT }, `postgres://a@127.0.0.1:${port}/a`), async (orm) => {
        expect(isDatabaseOutage(await failureOf(one(orm)))).toBe(true);
      });
    } finally {
      silent.close();
    }
  });

  test('API and command line answer so when a statement is cut off, and work again afterwards', async () => {
    const cli = cliOn(db.urlOf('operator'), { CFE_DATABASE_STATEMENT_SECONDS: '0.2' });
    const accounts = db.orm.em.fork();
    await withOrm(await opened({ statement: SHORT }, db.urlOf('api')), async (own) => {
      const api = await startApi({ orm: db.orm, own, counters: db.orm });
      try {
        const caller = await api.aCaller();
        const path = `/enterprises/${await anEnterprise(db.orm, caller.accountId)}`;
        await accounts.begin();
        await accounts.execute('lock table account in access exclusive mode');

        const answer = await caller.client.get(path);
        expectRefusal(answer, 503, 'UNAVAILABLE');
        expect(answer.headers.get('retry-after')).toBe('5');
        expect(await cli.refusal('account', 'list')).toMatchObject({ code: 'UNAVAILABLE' });

        await accounts.rollback();
        expect((await caller.client.get(path)).status).toBe(200);
        expect(await cli.json('account', 'list')).toHaveLength(1);
      } finally {
        if (accounts.isInTransaction()) await accounts.rollback();
        await api[Symbol.asyncDispose]();
      }
    });
  });

  test('API and worker open their connections with what is configured; the counters of the API, too', async () => {
    const config = readConfig([...DATABASE_VARIABLES, 'CFE_DATABASE_COUNTER_POOL'], {
      DATABASE_URL: db.databaseUrl,
      // A transaction that migrates would be cut off at its first pause.
      CFE_MIGRATE: 'never',
      CFE_DATABASE_STATEMENT_SECONDS: '1.5',
      CFE_DATABASE_IDLE_TRANSACTION_SECONDS: '0.0001',
    });
    expect(timeoutsOf(config)).toEqual({ connect: 10_000, statement: 1_500, idleInTransaction: 1 });
    const closers: (() => unknown)[] = [];
    const list = {
      add: (_: string, close: () => unknown) => void closers.push(close),
      closeAll: () => Promise.resolve(),
    };
    const orms = [await openDatabase(config, list), await openCounters(config, list)];
    try {
      for (const orm of orms) {
        const em = orm.em.fork();
        expect(await em.execute('show statement_timeout')).toEqual([{ statement_timeout: '1500ms' }]);
        expect(await em.execute('show idle_in_transaction_session_timeout')).toEqual([
          { idle_in_transaction_session_timeout: '1ms' },
        ]);
      }
    } finally {
      for (const close of closers) await close();
    }
    expect(closers).toHaveLength(2);
  });

  test('migrations are not cut off, neither while they wait for one another nor while they run', async () => {
    const { databaseUrl, ...database } = await emptyDatabase();
    const watcher = await openOrm({ databaseUrl, pool: 2 });
    const orm = await openOrm({
      databaseUrl,
      pool: 2,
      timeouts: { connect: LONG, statement: SHORT, idleInTransaction: SHORT },
    });
    try {
      const holding = watcher.em.fork();
      await holding.begin();
      // Of the same name as a table of the first migration, which waits until it is known whether this one stays.
      await holding.execute('create table enterprise (only_here integer)');
      const migrated = migrate(orm);
      try {
        await until('the migration has waited for longer than the time-outs', 5, async () => {
          const waiting = await watcher.em.fork().execute<unknown[]>(
            `select 1 from pg_stat_activity where datname = current_database()
               and wait_event_type = 'Lock' and clock_timestamp() - query_start > ? * interval '1 ms'`,
            [2 * SHORT],
          );
          return waiting.length > 0;
        });
      } finally {
        await holding.rollback();
      }

      expect(await migrated).toContain('0001_baseline');
    } finally {
      await orm.close(true);
      await watcher.close(true);
      await database[Symbol.asyncDispose]();
    }
  });
});
