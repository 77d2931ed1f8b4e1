import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import proto from '@temporalio/proto';
import { preparePostgres } from '../../../local/stack/postgres/postgres.ts';
import { keepSecrets, openSecrets } from '../../../local/stack/secrets.ts';
import { until } from '../../support/until.ts';
import { spentBy } from './processorTime.ts';
import { type Bench, postAll, withStack } from './stack.ts';
import { xmlCosts } from './xmlCosts.ts';

const CFES = Number(process.env['BENCH_CFES'] ?? 300);
const WARM_UP = 100;
/** Requests in progress at a time; nobody waits for verdicts, which would cost statements of its own. */
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
  const environment = { CFE_DATA_DIR: dataDir };
  try {
    await withStack({ enterprises: 1, environment }, async (bench) => {
      await issueAll(bench, WARM_UP);
      await ask(bench, `create extension ${OURS} if not exists pg_stat_statements`);
      await ask(bench, `select pg_stat_statements_reset() ${OURS}`);
      const before = spentBy(bench.pids);
      await issueAll(bench, CFES);
      const after = spentBy(bench.pids);
      console.log(`${CFES} CFEs, ${CALLERS} callers; of each CFE:\n`);
      for (const [part, seconds] of Object.entries(after))
        console.log(line((1_000 * (seconds - (before[part] ?? 0))) / CFES, 'ms', part));
      console.log(`\n${await statements(bench)}\n\n${await history(bench)}\n\n${xmlCosts()}`);
    });
  } finally {
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

async function issueAll(bench: Bench, count: number): Promise<void> {
  await postAll(bench, { count, callers: CALLERS });
  await until('all verdicts', 300, async () => {
    const [row] = await ask<{ open: number }>(
      bench,
      `select count(*)::int as open from cfe where settled_at is null ${OURS}`,
    );
    return row?.open === 0;
  });
}

const ask = <T = unknown>({ stack }: Bench, sql: string): Promise<T[]> =>
  stack.orm.em.fork().execute<T[]>(sql);

const line = (value: number, unit: string, what: string): string =>
  `${value.toFixed(2).padStart(9)} ${unit}  ${what}`;

async function statements(bench: Bench): Promise<string> {
  const rows = await ask<{ calls: number; ms: number; wal: number; query: string }>(
    bench,
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

async function history(bench: Bench): Promise<string> {
  const { temporal_address: address, temporal_namespace: namespace } = bench.stack.info();
  const connection = await Connection.connect({ address });
  try {
    const client = new Client({ connection, namespace });
    const [row] = await ask<{ id: string }>(
      bench,
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
