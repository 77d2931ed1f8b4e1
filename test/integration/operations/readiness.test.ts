import type { EventEmitter } from 'node:events';
import { expect, test } from '@jest/globals';
import { getPool, openOrm } from '../../../src/db/orm.ts';
import { createReadinessCheck } from '../../../src/wiring/readiness.ts';
import { cloneDatabase } from '../../support/database/database.ts';
import { startTcpProxy } from '../../support/processes/tcpProxy.ts';
import { until } from '../../support/until.ts';

test('a thousand who ask whether the database answers cost one look, and what it saw is old after a second', async () => {
  await using db = await cloneDatabase();
  const proxy = await startTcpProxy(db.databaseUrl);
  const orm = await openOrm({ databaseUrl: proxy.url, pool: 4 });
  let taken = 0;
  ((await getPool(orm)) as unknown as EventEmitter).on('acquire', () => {
    taken += 1;
  });
  try {
    const ready = createReadinessCheck(orm);
    const answers = await Promise.all(Array.from({ length: 500 }, ready));
    for (let i = 0; i < 500; i += 1) answers.push(await ready());
    expect(new Set(answers)).toEqual(new Set([true]));
    expect(taken).toBe(1);

    await proxy.cut();
    await until('it is no longer ready', 3, async () => !(await ready()));
  } finally {
    await orm.close(true);
  }
});
