import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createChangeWatch } from '../../src/console/changes.ts';
import { migrate, type Orm, openOrm } from '../../src/db/orm.ts';
import { cursorOf } from '../../src/domain/cursor.ts';
import { createLogger } from '../../src/logger.ts';
import { type Browser, startConsole, type TestConsole } from '../support/console.ts';
import { CONSOLE_PAGES } from '../support/consolePages.ts';
import { aWorld, type Side, type World } from '../support/consoleWorld.ts';
import {
  buildTemplate,
  cloneDatabase,
  onServer,
  type TestDatabase,
  withDatabase,
} from '../support/database.ts';
import { costsOf, statementsOf } from '../support/statementCosts.ts';
import { FIRST_OF, fillConsole, idOf, OWNER_OF, rutOf } from './consoleData.ts';
import { startKeptPostgres } from './keptPostgres.ts';
import { quantile } from './load.ts';
import { processorTimeOfTree } from './processorTime.ts';

const CFES = Number(process.env['BENCH_CFES'] ?? 1_000_000);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 20);
const LIVE_PAGES = Number(process.env['BENCH_LIVE_PAGES'] ?? 100);
const LIVE_SECONDS = Number(process.env['BENCH_LIVE_SECONDS'] ?? 60);
const FOLDER = process.env['BENCH_DATA'] ?? join(tmpdir(), 'cfe-bench-console');
/** Pages whose address holds this are asked; all unless told. */
const ONLY = process.env['BENCH_ONLY'] ?? '';
const AIM_MILLISECONDS = 150;
const DAY_MILLISECONDS = 86_400_000;

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
      await pages(world, { orm: database.orm, spent });
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
    await withOrm(withDatabase(serverUrl, `${name}_unfinished`), (orm) => fillConsole(orm, CFES));
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

/** Whoever asks: what is theirs, and a browser in which they are signed in. */
interface Asker {
  readonly title: string;
  readonly side: Side;
  readonly browser: Browser;
  readonly isOperator: boolean;
}

async function askers(world: World): Promise<Asker[]> {
  const { site } = world;
  const members = await Promise.all(
    (['large', 'accountant', 'few'] as const).map(async (size): Promise<Asker> => {
      const side = await sideOf(site, world, size);
      const browser = await site.as(await site.aMember(side.accountId, 'OWNER'));
      return { title: `owner of ${size}`, side, browser, isOperator: false };
    }),
  );
  const [first] = members;
  if (!first) throw new Error('nobody asks');
  const operator = { title: 'operator', browser: world.browsers['operator ADMIN'], isOperator: true };
  return [{ ...operator, side: first.side }, ...members];
}

/** What an account of the large database has, as the pages' samples want it. */
async function sideOf(
  { deps: { orm } }: TestConsole,
  { ours }: World,
  size: keyof typeof OWNER_OF,
): Promise<Side> {
  const rut = rutOf(FIRST_OF[size]);
  const webhookId = idOf('webhook', OWNER_OF[size] * 5);
  const em = orm.em.fork();
  const [cfe] = await em.execute<{ id: string; sequence: number }[]>(
    `select id, sequence from cfe where rut = ? and type = 'ETICKET' and status = 'ACCEPTED' order by created_at desc limit 1`,
    [rut],
  );
  const [delivery] = await em.execute<{ id: string }[]>(
    `select id from delivery where webhook_id = ? order by created_at desc limit 1`,
    [webhookId],
  );
  const [run] = await em.execute<{ id: string }[]>('select id from run where account_id = ? limit 1', [
    idOf('account', OWNER_OF[size]),
  ]);
  if (!cfe || !delivery || !run) throw new Error(`${size} has no CFE, delivery or run`);
  return {
    ...ours,
    rut,
    accountId: idOf('account', OWNER_OF[size]),
    cfeId: `101-${cfe.sequence}`,
    cfeUuid: cfe.id,
    webhookId,
    deliveryId: delivery.id,
    runId: run.id,
  };
}

const dayAgo = (days: number): string =>
  new Date(Date.now() - days * DAY_MILLISECONDS).toISOString().slice(0, 10);

/** Lists by what they are asked for, alone and together, beside the pages themselves; found often, seldom or never. */
const asked = ({ rut, webhookId, accountId }: Side): readonly string[] => [
  '/cfes?status=ACCEPTED',
  '/cfes?status=REJECTED',
  '/cfes?status=OBSERVED',
  '/cfes?status=PENDING',
  '/cfes?stuck=any',
  '/cfes?stuck=signing',
  '/cfes?annulled=yes',
  '/cfes?type=EREMITO',
  '/cfes?type=EFACTURA_EXPORT',
  '/cfes?environment=sandbox',
  `/cfes?rut=${rut}`,
  `/cfes?rut=${rut}&status=REJECTED`,
  `/cfes?rut=${rut}&type=EFACTURA_CREDIT_NOTE`,
  `/cfes?rut=${rut}&type=EREMITO`,
  `/cfes?rut=${rut}&type=EFACTURA_EXPORT`,
  `/cfes?rut=${rut}&from=${dayAgo(330)}&to=${dayAgo(300)}`,
  `/cfes?rut=${rut}&status=REJECTED&from=${dayAgo(330)}&to=${dayAgo(300)}`,
  `/cfes?from=${dayAgo(365)}&to=${dayAgo(0)}`,
  `/cfes?from=${dayAgo(365)}&to=${dayAgo(365)}`,
  `/cfes?from=2020-01-01&to=2020-12-31`,
  `/cfes?created_from=${dayAgo(200)}&created_to=${dayAgo(199)}`,
  `/cfes?status=REJECTED&from=${dayAgo(365)}&to=${dayAgo(350)}`,
  `/cfes?type=EREMITO&from=${dayAgo(365)}&to=${dayAgo(350)}`,
  '/cfes?receiver=219000090011',
  '/cfes?receiver=210000000777',
  '/cfes?receiver=999999999999',
  '/cfes?receiver=219000090011&status=REJECTED',
  '/cfes?serie=A',
  '/cfes?serie=ZZ',
  '/cfes?serie=A&numero=777',
  '/cfes?numero=777',
  '/cfes?q=101-777',
  '/cfes?q=A-777',
  '/cfes?q=request-777',
  '/cfes?q=nothing',
  '/cfes?key=key%20778',
  '/cfes?request=request-777',
  '/search?q=219000090011',
  '/deliveries?status=FAILED',
  '/deliveries?status=PENDING',
  '/deliveries?event=receipt.delivered',
  '/deliveries?event=receipt.failed',
  '/deliveries?event=receipt.delivered&status=FAILED',
  '/deliveries?event=receipt.delivered&status=PENDING',
  `/deliveries?webhook=${webhookId}`,
  `/deliveries?webhook=${webhookId}&status=FAILED`,
  `/deliveries?webhook=${webhookId}&status=PENDING`,
  `/deliveries?webhook=${webhookId}&event=receipt.failed`,
  `/deliveries?rut=${rut}`,
  `/deliveries?rut=${rut}&status=FAILED`,
  `/deliveries?rut=${rut}&status=PENDING`,
  `/deliveries?cfe_id=101-777&rut=${rut}`,
  '/deliveries?cfe_id=101-777',
  '/deliveries?environment=sandbox',
  `/deliveries?from=${dayAgo(300)}&to=${dayAgo(299)}`,
  `/deliveries?status=FAILED&to=${dayAgo(395)}`,
  `/webhooks/${webhookId}?status=FAILED`,
  `/webhooks/${webhookId}?status=PENDING`,
  `/webhooks/${webhookId}?event=receipt.failed`,
  `/runs/new?kind=redeliver&webhook=${webhookId}&since=${dayAgo(5)}`,
  '/runs/new?kind=retry&stuck_reason=signing',
  '/stuck',
  `/stuck?rut=${rut}`,
  '/stuck?stuck_reason=authority.user',
  '/reports?status=DIFFERS',
  '/reports?status=REFUSED',
  '/reports?status=SUPERSEDED',
  '/reports?status=OPEN',
  '/reports?needs=person',
  '/reports?environment=sandbox',
  `/reports?rut=${rut}`,
  `/reports?rut=${rut}&status=SUPERSEDED`,
  `/reports?from=${dayAgo(300)}&to=${dayAgo(299)}`,
  `/reports?status=DIFFERS&to=${dayAgo(200)}`,
  `/reports/${rut}/production/${dayAgo(1)}`,
  `/reports/${rut}/production/${dayAgo(40)}`,
  `/enterprises?q=${rut}`,
  '/enterprises?q=comercio',
  '/enterprises?q=nobody',
  '/enterprises?status=PENDING',
  '/enterprises?lacks=okCae',
  '/enterprises?ends=30',
  '/papers?within=7',
  '/papers?within=30&kind=cae',
  '/accounts?q=estudio',
  '/accounts?q=nobody',
  `/webhooks?account=${accountId}`,
  `/enterprises/${rut}/customers?q=cliente`,
  `/enterprises/${rut}/customers?q=nobody`,
  '/audit?action=cfe.retry',
  '/audit?action=webhook.test',
  '/audit?person=ana7@example.com',
  '/audit?person=nobody@example.com',
  '/audit?person=ana7@example.com&action=webhook.test',
  `/audit?rut=${rut}`,
  `/audit?rut=${rut}&action=webhook.test`,
  `/audit?account=${accountId}`,
  `/audit?account=${accountId}&action=webhook.test`,
  `/audit?from=${dayAgo(300)}&to=${dayAgo(299)}`,
  `/audit?action=webhook.test&from=${dayAgo(300)}`,
];

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
  for (const asker of await askers(world)) {
    for (const path of await pathsOf(asker, world)) {
      const measured = (title: string, to: string) => measure({ asker, database, found }, title, to);
      const text = await measured(path, path);
      const next = text && /href="([^"]+)" rel="next"/.exec(text)?.[1]?.replaceAll('&amp;', '&');
      if (next) await measured(`${path} (next)`, next);
      const far = next && farBehind(next);
      if (far) await measured(`${path} (far)`, far);
      const file = text && /class="csv" href="([^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&');
      if (file) await measured(`${path} (csv)`, file);
    }
  }
  tell(found);
}

async function pathsOf({ side, isOperator }: Asker, world: World): Promise<string[]> {
  const paths = new Set<string>();
  for (const [name, row] of Object.entries(CONSOLE_PAGES)) {
    const { may, isFile } = row;
    if (name.startsWith('GET') && !isFile && (isOperator ? may.operators : may.members) !== null)
      paths.add((await row.sample(side, world)).path);
  }
  for (const path of asked(side)) paths.add(path);
  return [...paths].filter((path) => path.includes(ONLY));
}

/** The same list from a place a year back; null where there is no such place. */
function farBehind(next: string): string | null {
  const url = new URL(next, 'http://console');
  const key = JSON.parse(
    Buffer.from(url.searchParams.get('after') ?? '', 'base64url').toString(),
  ) as string[];
  const far = key.map((part) => {
    if (/^\d{4}-\d\d-\d\d$/.test(part)) return dayAgo(360);
    if (/^\d{4}-\d\d-\d\d./.test(part)) return new Date(Date.now() - 390 * DAY_MILLISECONDS).toISOString();
    return part;
  });
  if (url.pathname === '/cfes') far[0] = idOf('cfe', CFES / 50);
  if (url.pathname === '/audit') far[0] = String(CFES / 50);
  if (url.pathname === '/reports') far[0] = '0';
  if (url.pathname === '/enterprises') far[0] = rutOf(1_900);
  if (String(far) === String(key)) return null;
  url.searchParams.set('after', cursorOf(far));
  return url.pathname + url.search;
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
