import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createChangeWatch } from '../../src/console/changes.ts';
import { migrate, type Orm, openOrm } from '../../src/db/orm.ts';
import { createLogger } from '../../src/logger.ts';
import { type Browser, startConsole } from '../support/console/console.ts';
import { type Asker, askers, farBehind, fileIn, nextIn, pathsOf } from '../support/console/consoleAskers.ts';
import { fillConsole } from '../support/console/consoleData.ts';
import { aWorld, type World } from '../support/console/consoleWorld.ts';
import { buildTemplate, cloneDatabase, onServer, withDatabase } from '../support/database/database.ts';
import { costsOf, statementsOf } from '../support/database/statementCosts.ts';
import { startKeptPostgres } from './tools/keptPostgres.ts';
import { quantile } from './tools/load.ts';
import { processorTimeOfTree } from './tools/processorTime.ts';

const CFES = Number(process.env['BENCH_CFES'] ?? 1_000_000);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 20);
const LIVE_PAGES = Number(process.env['BENCH_LIVE_PAGES'] ?? 100);
const LIVE_SECONDS = Number(process.env['BENCH_LIVE_SECONDS'] ?? 60);
const FOLDER = process.env['BENCH_DATA'] ?? join(tmpdir(), 'cfe-bench-console');
/** Pages whose address holds this are asked; all unless told. */
const ONLY = process.env['BENCH_ONLY'] ?? '';
const AIM_MILLISECONDS = 150;

/**
 * Every page of the console on large tables, to an operator and to owners of accounts of all sizes; then what open pages cost while
 * nothing changes. The large database is built once and kept; each run works on a copy.
 */
export async function run(): Promise<void> {
  const server = await startKeptPostgres(FOLDER);
  process.env['CFE_TEST_POSTGRES_URL'] = server.databaseUrl;
  try {
    const kept = await keptDatabase(server.databaseUrl);
    const database = await cloneDatabase({ of: kept });
    const changes = createChangeWatch({
      orm: database.orm,
      logger: createLogger({ name: 'bench', level: 'silent' }),
    });
    try {
      const site = await startConsole(database.orm, { changes });
      const world = await aWorld(site);
      await database.asOwner('vacuum (analyze)');
      const spent = (): number => processorTimeOfTree(server.pid);
      await pages(world, { orm: site.orm, spent });
      if (LIVE_SECONDS > 0) await openPages(world, spent);
      await site[Symbol.asyncDispose]();
    } finally {
      changes.close();
      await database[Symbol.asyncDispose]();
    }
  } finally {
    await server.stop();
  }
}

/** The name of the large database, built if there is none of this size, and brought up to date. */
async function keptDatabase(serverUrl: string): Promise<string> {
  await buildTemplate();
  const name = `bench_${CFES}`;
  const isThere = await withOrm(serverUrl, async (orm) => {
    const rows = await orm.em.fork().execute('select from pg_database where datname = ?', [name]);
    return rows.length > 0;
  });
  if (!isThere) {
    console.log(`building ${CFES.toLocaleString('en')} CFEs in ${FOLDER} …`);
    // Under another name until it is whole.
    await onServer([
      `alter system set max_wal_size = '8GB'`,
      'select pg_reload_conf()',
      `drop database if exists ${name}_unfinished`,
      `create database ${name}_unfinished template cfe_template`,
    ]);
    await withOrm(withDatabase(serverUrl, `${name}_unfinished`), (orm) =>
      fillConsole(orm, CFES, console.log),
    );
    await onServer([`alter database ${name}_unfinished rename to ${name}`]);
  }
  await withOrm(withDatabase(serverUrl, name), migrate, 2);
  return name;
}

async function withOrm<T>(databaseUrl: string, act: (orm: Orm) => Promise<T>, pool = 1): Promise<T> {
  const orm = await openOrm({ databaseUrl, pool });
  try {
    return await act(orm);
  } finally {
    await orm.close(true);
  }
}

/** The database, and the seconds of processor that it has taken so far. */
interface MeasuredDatabase {
  readonly orm: Orm;
  spent(): number;
}

interface Measured {
  readonly title: string;
  readonly p50: number;
  readonly p95: number;
  /** Milliseconds of processor for one page: of this process, its client included, and of the database's. */
  readonly own: number;
  readonly database: number;
  readonly statements: number;
  readonly buffers: number;
  readonly rows: number;
}

/** The figures of each page, of the page that follows it, of one far behind, and of the first bytes of its file. */
async function pages(world: World, database: MeasuredDatabase): Promise<void> {
  const found: Measured[] = [];
  for (const asker of await askers(world, CFES)) {
    for (const path of (await pathsOf(asker, world)).filter((one) => one.includes(ONLY))) {
      const measured = (title: string, to: string) => measure({ asker, database, found }, title, to);
      const text = (await measured(path, path)) ?? '';
      const next = nextIn(text);
      if (next) await measured(`${path} (next)`, next);
      const far = next && farBehind(next, CFES);
      if (far) await measured(`${path} (far)`, far);
      const file = fileIn(text);
      if (file) await measured(`${path} (csv)`, file);
    }
  }
  tell(found);
}

/** Measures one page, of a file its beginning; answers its text, undefined where it is no page for who asks. */
async function measure(
  { asker, database, found }: { asker: Asker; database: MeasuredDatabase; found: Measured[] },
  title: string,
  path: string,
): Promise<string | undefined> {
  const { browser } = asker;
  let text = '';
  const isFile = path.includes('format=csv');
  const ask = async (): Promise<number> => {
    const shown = isFile ? { status: await firstBytes(browser, path), text: '' } : await browser.get(path);
    text = shown.text;
    return shown.status;
  };
  const statements: Awaited<ReturnType<typeof statementsOf>> = [];
  let status = 0;
  statements.push(...(await statementsOf(database.orm, async () => (status = await ask()))));
  if (status !== 200) {
    if (status !== 303 && status !== 403) console.log(`${asker.title} ${path}: ${status}`);
    return undefined;
  }
  const costs = await costsOf(database.orm, statements);
  const [own, databases] = [process.cpuUsage(), database.spent()];
  const milliseconds: number[] = [];
  for (let i = 0; i < ROUNDS; i += 1) {
    const at = performance.now();
    await ask();
    milliseconds.push(performance.now() - at);
  }
  const { user, system } = process.cpuUsage(own);
  const one = {
    title: `${asker.title} ${title}`,
    p50: quantile(milliseconds, 0.5),
    p95: quantile(milliseconds, 0.95),
    own: (user + system) / 1_000 / ROUNDS,
    database: ((database.spent() - databases) * 1_000) / ROUNDS,
    statements: statements.length,
    buffers: costs.reduce((sum, { buffers }) => sum + buffers, 0),
    rows: costs.reduce((sum, { rows }) => sum + rows, 0),
  };
  found.push(one);
  if (process.env['BENCH_SQL'] && one.buffers > Number(process.env['BENCH_SQL']))
    for (const { sql, values, buffers, rows } of costs.toSorted((a, b) => b.buffers - a.buffers).slice(0, 1))
      console.log(
        `${one.title}\n  ${buffers} buffers, ${rows} rows: ${sql.replace(/\s+/g, ' ')} -- ${JSON.stringify(values)}`,
      );
  return text;
}

/** Reads the beginning of a file and leaves; its status. */
async function firstBytes(browser: Browser, path: string): Promise<number> {
  const leaving = new AbortController();
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const answer = await fetch(browser.url + path, { headers: { cookie }, signal: leaving.signal });
  const reader = answer.body?.getReader();
  // The head is written before anything is read: the second piece has the first rows.
  await reader?.read();
  await reader?.read();
  leaving.abort();
  return answer.status;
}

function tell(found: readonly Measured[]): void {
  console.log(
    `\nEach page at ${CFES.toLocaleString('en')} CFEs, ${ROUNDS} times: milliseconds (p50, p95), milliseconds of processor (console with client, database), statements, buffers, rows; the slowest first:`,
  );
  const figure = (value: number, digits = 0): string => value.toFixed(digits).padStart(7);
  for (const one of found.toSorted((a, b) => b.p95 - a.p95))
    console.log(
      `${one.p95 > AIM_MILLISECONDS ? '!' : ' '}${figure(one.p50, 1)}${figure(one.p95, 1)} ${figure(one.own, 1)}${figure(one.database, 1)} ${figure(one.statements)}${figure(one.buffers)}${figure(one.rows)}  ${one.title}`,
    );
  const slow = found.filter(({ p95 }) => p95 > AIM_MILLISECONDS).length;
  console.log(
    `${found.length} pages, ${slow} of them above ${AIM_MILLISECONDS} ms; p95 of all: ${quantile(
      found.map(({ p95 }) => p95),
      0.95,
    ).toFixed(1)} ms`,
  );
}

/** The processor time of this process and of the database's while pages are open and nothing changes. */
async function openPages({ site, browsers }: World, spent: () => number): Promise<void> {
  const cookie = [...browsers['operator ADMIN'].cookies]
    .map(([name, value]) => `${name}=${value}`)
    .join('; ');
  const closing = new AbortController();
  const streams = await Promise.all(
    Array.from({ length: LIVE_PAGES }, () =>
      fetch(`${site.url}/changes?of=cfes,authority,papers,deliveries,reports`, {
        headers: { cookie },
        signal: closing.signal,
      }),
    ),
  );
  const [own, database] = [process.cpuUsage(), spent()];
  await new Promise((resolve) => setTimeout(resolve, LIVE_SECONDS * 1_000));
  const { user, system } = process.cpuUsage(own);
  const share = (seconds: number): string => `${((100 * seconds) / LIVE_SECONDS).toFixed(1)} % of a core`;
  console.log(
    `\n${streams.filter(({ status }) => status === 200).length} open pages for ${LIVE_SECONDS} s while nothing changes: the console with its clients ${share((user + system) / 1e6)}, the database ${share(spent() - database)}`,
  );
  closing.abort();
}
