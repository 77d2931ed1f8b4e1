import { readFileSync } from 'node:fs';
import { openOrm } from '../../src/db/orm.ts';
import { aCfeBody } from '../support/receipts/cfeBodies.ts';
import { type ApiAlone, startApiAlone, startServers } from './tools/apiAlone.ts';
import { type Call, closedLoop, lineOf, quantile, send } from './tools/load.ts';

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 8);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
const MEMORY_SECONDS = Number(process.env['BENCH_MEMORY_SECONDS'] ?? 300);
/** How many CFEs the tables hold, one size after the other. */
const ROWS = (process.env['BENCH_ROWS'] ?? '1000000,5000000').split(',').map(Number);
/** Of so many CFEs that are loaded, one has its signed XML and its sobre. */
const WITH_XML = 100;
const BATCH = 250_000;
const CALLERS = 16;

/**
 * POST, list and read of CFEs against one API and one PostgreSQL, on empty tables and on large
 * ones: of one enterprise, the worst case. Temporal agrees to everything, and no worker runs. An API on empty tables of
 * its own takes turns with the one on large tables.
 */
export async function run(): Promise<void> {
  const servers = await startServers();
  const empty = await startApiAlone(servers);
  const filled = await startApiAlone(servers);
  try {
    for (const api of [empty, filled]) await closedLoop(callsOf(api)['POST'], CALLERS, SECONDS);
    let rows = 0;
    for (const more of ROWS) {
      await load(filled, rows, more);
      rows = more;
      await compare({ 'empty tables': empty, [`${rows.toLocaleString('en')} CFEs`]: filled });
    }
    if (MEMORY_SECONDS > 0) await memory(filled);
  } finally {
    await empty.stop();
    await filled.stop();
    await servers.stop();
  }
}

function callsOf({ target, ruts: [rut = ''] }: ApiAlone): Record<'POST' | 'list' | 'read', Call> {
  const path = `/v1/enterprises/${rut}/cfes`;
  const body = JSON.stringify(aCfeBody());
  return {
    POST: () => send(target, 'POST', path, { body }),
    list: () => send(target, 'GET', `${path}?limit=25`),
    read: () => send(target, 'GET', `${path}/101-1`),
  };
}

/**
 * What both tables bear at full load; then one caller who calls them in turns, call by call, so that whatever else the
 * machine does strikes both alike. Medians of the rounds.
 */
async function compare(tables: Readonly<Record<string, ApiAlone>>): Promise<void> {
  const found = new Map<string, { rate: number; turns: number[] }[]>();
  for (let round = 1; round <= ROUNDS; round += 1) {
    for (const name of ['POST', 'list', 'read'] as const) {
      const subjects = Object.entries(tables).map(
        ([title, api]) => [`${name}, ${title}`, callsOf(api)[name]] as const,
      );
      const turns = await inTurns(subjects.map(([, call]) => call));
      for (const [i, [title, call]] of subjects.entries()) {
        const full = await closedLoop(call, CALLERS, SECONDS);
        found.set(title, [...(found.get(title) ?? []), { rate: full.perSecond, turns: turns[i] ?? [] }]);
      }
    }
  }
  console.log(
    `\nmedians of ${ROUNDS} rounds: calls per second of ${CALLERS} callers; milliseconds of one caller`,
  );
  for (const [title, rounds] of found) {
    const rate = quantile(
      rounds.map(({ rate }) => rate),
      0.5,
    );
    const milliseconds = rounds.flatMap(({ turns }) => turns);
    console.log(lineOf(title, { perSecond: rate, milliseconds }));
  }
}

/** The milliseconds of each call, one of each after the other. */
async function inTurns(calls: readonly Call[]): Promise<number[][]> {
  const milliseconds = calls.map((): number[] => []);
  const deadline = performance.now() + calls.length * SECONDS * 1_000;
  while (performance.now() < deadline) {
    for (const [i, call] of calls.entries()) {
      const at = performance.now();
      await call();
      milliseconds[i]?.push(performance.now() - at);
    }
  }
  return milliseconds;
}

/** Resident memory of the API while it serves all three for some minutes. */
async function memory(api: ApiAlone): Promise<void> {
  const calls = Object.values(callsOf(api));
  const samples: number[] = [];
  const sample = setInterval(() => {
    const pages = Number(readFileSync(`/proc/${api.pid}/statm`, 'utf8').split(' ')[1]);
    samples.push((pages * 4_096) / 1e6);
  }, 5_000);
  let turn = 0;
  const call: Call = async () => {
    turn += 1;
    await calls[turn % calls.length]?.();
  };
  await closedLoop(call, CALLERS, MEMORY_SECONDS);
  clearInterval(sample);
  const tenth = Math.max(1, Math.floor(samples.length / 10));
  const mean = (part: number[]): string => (part.reduce((a, b) => a + b, 0) / part.length).toFixed(0);
  console.log(
    `\nmemory over ${MEMORY_SECONDS} s: ${mean(samples.slice(tenth, 2 * tenth))} MB at the beginning, ${mean(samples.slice(-tenth))} MB at the end`,
  );
}

/** Copies the first CFE, as one that has its verdict, until the table holds `to`; the CAE is past the copies afterwards. */
async function load({ databaseUrl, ruts: [rut = ''] }: ApiAlone, from: number, to: number): Promise<void> {
  console.log(`\nloading ${(to - from).toLocaleString('en')} CFEs …`);
  const orm = await openOrm({ databaseUrl, pool: 1 });
  const em = orm.em.fork();
  // What the rows refer to is there: nothing of it needs a look for each of them.
  await em.execute(`set session_replication_role = 'replica'`);
  for (let first = from; first < to; first += BATCH) {
    const last = Math.min(first + BATCH, to);
    await em.execute(COPY_CFES, [last, first, rut]);
    await em.execute(COPY_SOBRES, [first, last]);
  }
  await em.execute('update cfe_sequence set last = last + ? where rut = ?', [to, rut]);
  for (const table of ['cfe', 'sobre']) {
    await em.execute(`vacuum analyze ${table}`);
    const [size] = await em.execute<{ rows: string; all: string; indexes: string }[]>(
      `select pg_size_pretty(pg_relation_size(c.oid)) as rows, pg_size_pretty(pg_total_relation_size(c.oid)) as all,
         pg_size_pretty(pg_indexes_size(c.oid)) as indexes from pg_class c where c.oid = ?::regclass`,
      [table],
    );
    console.log(
      `${table}: rows ${size?.rows}, indexes ${size?.indexes}, with all that is apart ${size?.all}`,
    );
  }
  await orm.close(true);
}

/** Numbers of their own, far behind those that are given: 10,000,000 and what follows. */
const COPY_CFES = `
  insert into cfe (id, held, receipt_token, account_id, rut, environment, type, sequence, cae_id, serie, numero, status,
    emission_date, currency, pay_amount, document, certificate_id, signed_xml, digest, created_at, settled_at)
  select gen_random_uuid(), false, gen_random_uuid(), account_id, rut, environment, type, 10000000 + n, cae_id, 'B', n, 'ACCEPTED',
    emission_date, currency, pay_amount, document, certificate_id,
    case when n % ${WITH_XML} = 0 then (select string_agg(md5(n || ':' || i), '') from generate_series(1, 160) i) end,
    case when n % ${WITH_XML} = 0 then 'eA==' end, created_at - n * interval '1 second', created_at
  from cfe, generate_series(?::integer, ?::integer + 1, -1) n where cfe.rut = ? and sequence = 1`;

const COPY_SOBRES = `
  with made as (
    insert into sobre (id, workflow_id, rut, environment, idemisor, state, xml, created_at)
    select id, 'bench ' || id, rut, environment, numero, 'RECEIVED', signed_xml, created_at
    from cfe where serie = 'B' and signed_xml is not null and numero > ? and numero <= ? returning id)
  insert into sobre_cfe (sobre_id, place, cfe_uuid) select id, 1, id from made`;
