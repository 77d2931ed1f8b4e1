import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type DatabaseTimeouts, migrate, type Orm, openOrm } from '../../../src/db/orm.ts';
import { isDatabaseOutage } from '../../../src/db/outage.ts';
import { cloneDatabase, emptyDatabase, type TestDatabase } from '../../support/database.ts';
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

      expect(await migrated).toContain('0001_start');
    } finally {
      await orm.close(true);
      await watcher.close(true);
      await database[Symbol.asyncDispose]();
    }
  });
});
