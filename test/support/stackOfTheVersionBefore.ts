/** A stack of the version before, with work under way, as test/fixtures/upgrade/README.md tells. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { openOrm } from '../../src/db/orm.ts';
import { migrateDatabase } from '../../src/wiring/prepareStack.ts';
import { emptyDatabase } from './database.ts';
import { startTestStack, type TestStack } from './stacks.ts';

const FIXTURE = join(import.meta.dirname, '../fixtures/upgrade');
const LAST_MIGRATION = '0011_skipped_places';

/** Which CFE of that stack stands where. */
export const CFES_BEFORE = JSON.parse(readFileSync(join(FIXTURE, 'ids.json'), 'utf8')) as Readonly<
  Record<
    'accepted' | 'rejected' | 'awaiting' | 'note' | 'stuck' | 'down' | 'parked0' | 'parked1' | 'parked2',
    string
  >
>;

/** Migrates what the version before left behind, as its owner, and starts the present code on it, in the role of the service. */
export async function startOnVersionBefore(): Promise<TestStack> {
  const database = await emptyDatabase();
  await loadDatabase(database.databaseUrl);
  await migrateDatabase({ databaseUrl: database.databaseUrl, appPassword: undefined });
  const dataDir = dataFolder();
  const stack = await startTestStack(
    { CFE_DATA_DIR: dataDir, DATABASE_URL: database.serviceUrl },
    { ownServers: true },
  );
  return {
    ...stack,
    async stop() {
      await stack.stop();
      await database[Symbol.asyncDispose]();
    },
  };
}

/** The schema as the migrations of then made it, and every row. */
async function loadDatabase(databaseUrl: string): Promise<void> {
  const orm = await openOrm({ databaseUrl, pool: 1 });
  try {
    await orm.migrator.up({ to: LAST_MIGRATION });
    const em = orm.em.fork();
    await em.transactional(async (transaction) => {
      // Rows come by table, in the order of the alphabet.
      await transaction.execute('set local session_replication_role = replica');
      for (const line of readFileSync(join(FIXTURE, 'database.jsonl'), 'utf8').trim().split('\n')) {
        const { table } = JSON.parse(line) as { table: string };
        // Some come with rows that the migrations made.
        await transaction.execute(`delete from ${table}`);
        await transaction.execute(
          `insert into ${table} overriding system value
           select * from json_populate_recordset(null::${table}, ?::json -> 'rows')`,
          [line],
        );
      }
      for (const table of ['outbox', 'audit', 'migration']) {
        await transaction.execute(
          `select setval(pg_get_serial_sequence('${table}', 'id'), (select max(id) from ${table}))`,
        );
      }
    });
  } finally {
    await orm.close(true);
  }
}

function dataFolder(): string {
  const dataDir = mkdtempSync(join(tmpdir(), 'cfe-upgrade-'));
  for (const folder of ['temporal', 'simulator']) mkdirSync(join(dataDir, folder));
  for (const file of ['secrets.json', 'ca.pem', 'ca-key.pem']) {
    writeFileSync(join(dataDir, file), readFileSync(join(FIXTURE, file)), { mode: 0o600 });
  }
  const unpack = (from: string, to: string): void =>
    writeFileSync(join(dataDir, to), gunzipSync(readFileSync(join(FIXTURE, from))));
  unpack('temporal.db.gz', 'temporal/temporal.db');
  unpack('simulator.sqlite.gz', 'simulator/state.sqlite');
  cpSync(join(FIXTURE, 'simulator-keys'), join(dataDir, 'simulator/keys'), { recursive: true });
  return dataDir;
}
