import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import proto from '@temporalio/proto';
import { embeddedDatabaseUrl, preparePostgres } from '../../local/stack/postgres.ts';
import { keepSecrets, openSecrets } from '../../local/stack/secrets.ts';
import { openOrm } from '../../src/db/orm.ts';
import { issue, startTestStack, type TestStack } from '../support/stacks.ts';
import { until } from '../support/until.ts';
import { processorTimeOfTree } from './processorTime.ts';
import { xmlCosts } from './xmlCosts.ts';

const CFES = Number(process.env['BENCH_CFES'] ?? 300);
const WARM_UP = 100;
/** Requests under way at a time; nobody waits for verdicts, which would cost statements of its own. */
const CALLERS = 8;
/** What the bench itself asks PostgreSQL is marked so. */
const OURS = '/* bench */';

const { EventType } = proto.temporal.api.enums.v1;

/**
 * Where one CFE's cost goes on the whole local stack, without webhooks: processor of each part, statements of
 * PostgreSQL with their time and WAL, XML and signatures of the worker, events and bytes of the history.
 */
export async function run(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'cfe-profile-'));
  await countStatements(dataDir);
  const started = await startTestStack({ CFE_LOG_LEVEL: 'warn', CFE_DATA_DIR: dataDir });
  // What others ask of PostgreSQL its superuser alone may see.
  const port = Number(new URL(started.info().database_url).port);
  const databaseUrl = embeddedDatabaseUrl(port, openSecrets(dataDir).secrets.database_password);
  const stack = { ...started, orm: await openOrm({ databaseUrl, pool: 1 }) };
  try {
    await stack.onboard([101]);
    await issueAll(stack, WARM_UP);
    await ask(stack, `create extension ${OURS} if not exists pg_stat_statements`);
    await ask(stack, `select pg_stat_statements_reset() ${OURS}`);
    const before = partsOf(stack);
    await issueAll(stack, CFES);
    const after = partsOf(stack);
    console.log(`${CFES} CFEs, ${CALLERS} callers; of each CFE:\n`);
    for (const [part, seconds] of Object.entries(after))
      console.log(line((1_000 * (seconds - (before[part] ?? 0))) / CFES, 'ms', part));
    console.log(`\n${await statements(stack)}\n\n${await history(stack)}\n\n${xmlCosts()}`);
  } finally {
    await stack.orm.close(true);
    await started.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** Makes the cluster before the stack does, so that PostgreSQL counts what it is asked. */
async function countStatements(dataDir: string): Promise<void> {
  const { secrets } = openSecrets(dataDir);
  keepSecrets(dataDir, secrets);
  await preparePostgres({ dataDir, password: secrets.database_password, say: () => {} });
  appendFileSync(
    join(dataDir, 'postgres', 'postgresql.auto.conf'),
    `shared_preload_libraries = 'pg_stat_statements'\n`,
  );
}

async function issueAll(stack: TestStack, count: number): Promise<void> {
  const rut = await firstRut(stack);
  let left = count;
  const caller = async (): Promise<void> => {
    while (left-- > 0) await issue(stack.customer, rut);
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  await until('all verdicts', 300, async () => {
    const [row] = await ask<{ open: number }>(
      stack,
      `select count(*)::int as open from cfe where settled_at is null ${OURS}`,
    );
    return row?.open === 0;
  });
}

const firstRut = async (stack: TestStack): Promise<string> =>
  (await ask<{ rut: string }>(stack, `select rut from enterprise limit 1 ${OURS}`))[0]?.rut ?? '';

const ask = <T = unknown>({ orm }: TestStack, sql: string): Promise<T[]> => orm.em.fork().execute<T[]>(sql);

/** Processor of every part so far, seconds. */
function partsOf(stack: TestStack): Record<string, number> {
  const { supervisor: _, ...parts } = stack.info().pids;
  return Object.fromEntries(
    Object.entries(parts).flatMap(([name, pid]) => (pid === null ? [] : [[name, processorTimeOfTree(pid)]])),
  );
}

const line = (value: number, unit: string, what: string): string =>
  `${value.toFixed(2).padStart(9)} ${unit}  ${what}`;

async function statements(stack: TestStack): Promise<string> {
  const rows = await ask<{ calls: number; ms: number; wal: number; query: string }>(
    stack,
    `select calls::float8, total_exec_time as ms, wal_bytes::float8 as wal, query
     from pg_stat_statements where query not like '%/* bench */%' order by calls desc, query`,
  );
  const of = (key: 'calls' | 'ms' | 'wal'): number => rows.reduce((sum, row) => sum + row[key], 0) / CFES;
  const each = rows
    .filter(({ calls }) => calls >= 0.05 * CFES)
    .map(
      ({ calls, ms, wal, query }) =>
        `${(calls / CFES).toFixed(2).padStart(9)} × ${(ms / calls).toFixed(2).padStart(6)} ms ${(wal / calls).toFixed(0).padStart(6)} B WAL  ${query.replace(/\s+/g, ' ').slice(0, 110)}`,
    );
  return [
    `statements ${of('calls').toFixed(1)}, ${of('ms').toFixed(2)} ms in PostgreSQL, ${of('wal').toFixed(0)} bytes of WAL`,
    ...each,
  ].join('\n');
}

async function history(stack: TestStack): Promise<string> {
  const { temporal_address: address, temporal_namespace: namespace } = stack.info();
  const connection = await Connection.connect({ address });
  try {
    const client = new Client({ connection, namespace });
    const [row] = await ask<{ id: string }>(
      stack,
      `select workflow_id as id from cfe order by settled_at desc limit 1 ${OURS}`,
    );
    const handle = client.workflow.getHandle(row?.id ?? '');
    await handle.result();
    const { events } = await handle.fetchHistory();
    const sizes = (events ?? []).map((event) => ({
      name: EventType[event.eventType ?? 0] ?? '',
      bytes: proto.temporal.api.history.v1.HistoryEvent.encode(event).finish().length,
    }));
    const total = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
    const kinds = [...Map.groupBy(sizes, ({ name }) => name)].map(
      ([name, ones]) =>
        `${String(ones.length).padStart(9)} × ${String(Math.round(ones.reduce((sum, { bytes }) => sum + bytes, 0) / ones.length)).padStart(4)} B  ${name}`,
    );
    return [`history: ${sizes.length} events, ${total} bytes`, ...kinds].join('\n');
  } finally {
    await connection.close();
  }
}
