import { expect, test } from '@jest/globals';
import { openOrm } from '../../../src/db/orm.ts';
import { cloneDatabase } from '../../support/database/database.ts';

test('a connection that dies inside a transaction leaves its place to others', async () => {
  await using db = await cloneDatabase();
  const orm = await openOrm({ databaseUrl: db.databaseUrl, pool: 1 });
  try {
    for (const moment of ['before a statement', 'at the commit', 'at the rollback']) {
      const begun = Promise.withResolvers<number>();
      const killed = Promise.withResolvers<void>();
      const transaction = orm.em.fork().transactional(async (em) => {
        const [row] = await em.execute<{ pid: number }[]>('select pg_backend_pid() as pid');
        begun.resolve(row?.pid ?? 0);
        await killed.promise;
        if (moment === 'before a statement') await em.execute('select 1');
        if (moment === 'at the rollback') throw new Error('no, after all');
      });
      await db.orm.em.fork().execute('select pg_terminate_backend(?, 5000)', [await begun.promise]);
      killed.resolve();
      await expect(transaction).rejects.toThrow();

      expect(await orm.em.fork().execute('select 1 as one')).toEqual([{ one: 1 }]);
    }
  } finally {
    await orm.close(true);
  }
});
