import { takeSlotUnlessCfesWait } from '../../src/db/authority/authorityEndpoints.ts';
import { migrate, type Orm, openOrm } from '../../src/db/orm.ts';
import { emptyDatabase } from '../support/database/database.ts';
import { startServers } from './tools/apiAlone.ts';
import { closedLoop, lineOf } from './tools/load.ts';

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 8);
const WORKERS = [1, 10, 50] as const;

/**
 * Slots that the gate's one row gives to so many workers at once, each on a connection of its own, at a rate that never
 * holds them back: what the row itself bears.
 */
export async function run(): Promise<void> {
  const servers = await startServers();
  const database = await emptyDatabase();
  const orm = await openOrm({ databaseUrl: database.databaseUrl, pool: Math.max(...WORKERS) });
  try {
    await migrate(orm);
    for (const workers of WORKERS) {
      const timings = await closedLoop(() => takeOne(orm), workers, SECONDS);
      console.log(lineOf(`${workers} workers`, timings));
    }
  } finally {
    await orm.close(true);
    await database[Symbol.asyncDispose]();
    await servers.stop();
  }
}

async function takeOne(orm: Orm): Promise<void> {
  const taken = await takeSlotUnlessCfesWait(orm.em.fork(), {
    environment: 'production',
    spacingMilliseconds: 0.01,
    nearMilliseconds: 60_000,
    clock: undefined,
  });
  if (!taken) throw new Error('no slot was near');
}
