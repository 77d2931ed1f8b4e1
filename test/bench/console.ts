import { createChangeWatch } from '../../src/console/changes.ts';
import type { Orm } from '../../src/db/orm.ts';
import { createLogger } from '../../src/logger.ts';
import { startConsole } from '../support/console.ts';
import { CONSOLE_PAGES } from '../support/consolePages.ts';
import { aWorld, type Side, type Who, type World } from '../support/consoleWorld.ts';
import { cloneDatabase } from '../support/database.ts';
import { startServices } from '../support/services.ts';
import { quantile } from './load.ts';
import { processorTime } from './processorTime.ts';

const CFES = Number(process.env['BENCH_CFES'] ?? 1_000_000);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 20);
const LIVE_PAGES = Number(process.env['BENCH_LIVE_PAGES'] ?? 100);
const LIVE_SECONDS = Number(process.env['BENCH_LIVE_SECONDS'] ?? 60);
/** Half of the CFEs are of one enterprise, the others of so many. */
const ENTERPRISES = 500;
const REPORT_DAYS = 60;
const DELIVERIES = Math.round(CFES / 5);
const ACTS = Math.round(CFES / 5);
const BATCH = 100_000;
const AIM_MILLISECONDS = 150;

/**
 * Every page of the console on large tables, to an operator, who sees everything, and to the owner of it all; then what open pages cost
 * while nothing changes.
 */
export async function run(): Promise<void> {
  const services = await startServices({ say: console.log });
  Object.assign(process.env, services.environment);
  const database = await cloneDatabase();
  const changes = createChangeWatch({
    orm: database.orm,
    logger: createLogger({ name: 'bench', level: 'silent' }),
  });
  try {
    const world = await aWorld(await startConsole(database.orm, { changes }));
    await fill(database.orm, world.ours);
    await database.asOwner('vacuum (analyze)');
    await pages(world);
    await openPages(world, database.orm);
    await world.site[Symbol.asyncDispose]();
  } finally {
    changes.close();
    await database[Symbol.asyncDispose]();
    await services.stop();
  }
}

/** Lists by what they are asked for most, beside the pages themselves. */
const asked = ({ rut, webhookId }: Side): readonly string[] => [
  '/cfes?status=ACCEPTED',
  '/cfes?status=REJECTED',
  '/cfes?stuck=any',
  `/cfes?rut=${rut}&from=2026-01-01&to=2026-01-31`,
  '/cfes?receiver=219000090011',
  '/cfes?serie=A&numero=777',
  '/cfes?q=101-777',
  '/deliveries?status=FAILED',
  `/deliveries?webhook=${webhookId}`,
  `/deliveries?rut=${rut}`,
  '/reports?status=DIFFERS',
  `/reports?rut=${rut}`,
  `/enterprises?rut=${rut}`,
  '/audit?action=webhook.test',
  '/audit?person=ana7@example.com',
  '/audit?from=2026-01-01&to=2026-01-31',
];

/** The milliseconds of each page, and of the page that follows it. */
async function pages(world: World): Promise<void> {
  const found: { title: string; p50: number; p95: number }[] = [];
  for (const who of ['operator ADMIN', 'member OWNER'] as const) {
    const paths = new Set<string>();
    for (const [name, row] of Object.entries(CONSOLE_PAGES)) {
      const { may, isFile } = row;
      const least = who === 'operator ADMIN' ? may.operators : may.members;
      if (name.startsWith('GET') && !isFile && least !== null)
        paths.add((await row.sample(world.ours, world)).path);
    }
    for (const path of [...paths, ...asked(world.ours)]) {
      const next = await measure(world, who, path, found);
      if (next !== undefined) await measure(world, who, next, found, `${path} (next)`);
    }
  }
  console.log(
    `\nmilliseconds of a page at ${CFES.toLocaleString('en')} CFEs, ${ROUNDS} times each, the slowest first:`,
  );
  for (const { title, p50, p95 } of found.toSorted((a, b) => b.p95 - a.p95))
    console.log(
      `${p95 > AIM_MILLISECONDS ? '!' : ' '} p50 ${p50.toFixed(1).padStart(8)}  p95 ${p95.toFixed(1).padStart(8)}  ${title}`,
    );
}

/** Measures one page; answers the address of the one that follows it. */
async function measure(
  { browsers }: World,
  who: Who,
  path: string,
  found: { title: string; p50: number; p95: number }[],
  title = path,
): Promise<string | undefined> {
  const browser = browsers[who];
  const first = await browser.get(path);
  if (first.status !== 200) {
    if (!path.includes('?')) console.log(`${who} ${path}: ${first.status}`);
    return undefined;
  }
  const milliseconds: number[] = [];
  for (let i = 0; i < ROUNDS; i += 1) {
    const at = performance.now();
    await browser.get(path);
    milliseconds.push(performance.now() - at);
  }
  found.push({
    title: `${who.split(' ')[0]} ${title}`,
    p50: quantile(milliseconds, 0.5),
    p95: quantile(milliseconds, 0.95),
  });
  return /href="([^"]+)" rel="next"/.exec(first.text)?.[1]?.replaceAll('&amp;', '&');
}

/** The processor time of this process and of the database's while pages are open and nothing changes. */
async function openPages({ site, browsers }: World, orm: Orm): Promise<void> {
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
  const backends = await orm.em
    .fork()
    .execute<{ pid: number }[]>('select pid from pg_stat_activity where datname = current_database()');
  const spent = (): number => backends.reduce((sum, { pid }) => sum + processorTime(pid), 0);
  const [own, database] = [process.cpuUsage(), spent()];
  await new Promise((resolve) => setTimeout(resolve, LIVE_SECONDS * 1_000));
  const { user, system } = process.cpuUsage(own);
  const share = (seconds: number): string => `${((100 * seconds) / LIVE_SECONDS).toFixed(1)} % of a core`;
  console.log(
    `\n${streams.filter(({ status }) => status === 200).length} open pages for ${LIVE_SECONDS} s while nothing changes: the console with its clients ${share((user + system) / 1e6)}, the database ${share(spent() - database)}`,
  );
  closing.abort();
}

/** Copies of what the world has. */
async function fill(orm: Orm, { accountId, rut, webhookId, deliveryId }: Side): Promise<void> {
  const em = orm.em.fork();
  console.log(`filling ${CFES.toLocaleString('en')} CFEs …`);
  await fillEnterprises(orm, rut);
  const half = CFES / 2;
  for (let first = 100; first < half; first += BATCH)
    await em.execute(COPY_CFES, [accountId, first, Math.min(first + BATCH - 1, half), rut, rut]);
  await em.execute('update cae set last_number = ?, number_end = greatest(number_end, ?) where rut = ?', [
    half,
    half,
    rut,
  ]);
  const each = Math.ceil(half / ENTERPRISES);
  for (let i = 0; i < ENTERPRISES; i += 50) {
    for (const one of rutsOf(50, i)) await em.execute(COPY_CFES, [accountId, 1, each, rut, one]);
  }
  for (let first = 0; first < DELIVERIES; first += BATCH)
    await em.execute(COPY_DELIVERIES, [
      rut,
      deliveryId,
      webhookId,
      first + 1,
      Math.min(first + BATCH, DELIVERIES),
    ]);
  await em.execute(FILL_AUDIT, [accountId, rut, ACTS]);
  await em.execute(FILL_REPORTS, [REPORT_DAYS, rut]);
}

const rutsOf = (count: number, from = 0): string[] =>
  Array.from({ length: count }, (_, index) => String(300_000_000_000 + from + index));

/** Copies of the enterprise with its papers, by RUTs that nobody checks here. */
async function fillEnterprises(orm: Orm, like: string): Promise<void> {
  const em = orm.em.fork();
  for (const table of ['enterprise', 'certificate', 'cae']) {
    const columns = await em.execute<{ name: string }[]>(
      `select column_name as name from information_schema.columns where table_name = ? and is_generated = 'NEVER'`,
      [table],
    );
    const names = columns.map(({ name }) => name).join(', ');
    await em.execute(
      `insert into ${table} (${names})
       select ${columns.map(({ name }) => `copy.${name}`).join(', ')}
       from jsonb_array_elements_text(?::jsonb) as given (rut),
         lateral (select * from ${table} where rut = ? limit 1) as model,
         lateral jsonb_populate_record(null::${table},
           to_jsonb(model) || jsonb_build_object('rut', given.rut, 'id', gen_random_uuid())) as copy`,
      [JSON.stringify(rutsOf(ENTERPRISES)), like],
    );
  }
}

/** Accepted ones like the enterprise's own, over a year; one in 500 was rejected. */
const COPY_CFES = `insert into cfe (id, account_id, rut, environment, type, sequence, cae_id, serie, numero, status, emission_date,
    currency, pay_amount, document, certificate_id, rejection, created_at, settled_at)
  select gen_random_uuid(), ?, paper.rut, 'production', 'ETICKET', n, paper.cae, 'A', n,
    case when n % 500 = 0 then 'REJECTED' else 'ACCEPTED' end, (now() - at.ago)::date, 'UYU', 1220,
    model.document || jsonb_build_object('numero', n), paper.certificate,
    case when n % 500 = 0 then '[{"code": "E20", "message": "m", "detail": "d"}]'::jsonb end, now() - at.ago, now() - at.ago
  from generate_series(?::int, ?::int) n,
    lateral (select (n % 8760) * interval '1 hour' as ago) at,
    (select document from cfe where rut = ? and status = 'ACCEPTED' order by created_at limit 1) model,
    (select cae.rut, cae.id as cae, certificate.id as certificate from cae join certificate using (rut) where cae.rut = ? limit 1) paper`;

/** One in a hundred failed. */
const COPY_DELIVERIES = `with made as (
    insert into event (id, rut, name, environment, body, created_at)
    select gen_random_uuid(), ?, 'cfe.updated', 'production', e.body, now() - (n % 20000) * interval '1 minute'
    from delivery d join event e on e.id = d.event_id, generate_series(1, 1) one, (select ?::uuid as delivery, ?::uuid as webhook) given,
      generate_series(?::int, ?::int) n
    where d.id = given.delivery
    returning id, created_at
  )
  insert into delivery (id, workflow_id, webhook_id, event_id, event_name, status, created_at, settled_at)
  select gen_random_uuid(), 'bench ' || made.id, model.webhook_id, made.id, 'cfe.updated',
    case when random() < 0.01 then 'FAILED' else 'DELIVERED' end, made.created_at, made.created_at + interval '1 second'
  from made, (select webhook_id from delivery limit 1) model`;

const FILL_AUDIT = `insert into audit (at, actor, action, subject, account_id, rut, reason)
  select now() - (n % 500000) * interval '1 minute', 'console:ana' || n % 40 || '@example.com',
    (array['cfe.retry', 'customer.update', 'user.sign_in', 'delivery.redeliver'])[1 + n % 4], n::text, ?, ?, 'a reason'
  from generate_series(1, ?::int) n`;

const FILL_REPORTS = `insert into daily_report (rut, environment, date, status, sequence, due_at, workflow_id, started_at, send_now,
    is_complete, accepted_as_is, created_at)
  select rut, 'production', (now() - n * interval '1 day')::date, case when n = 1 then 'OPEN' else 'CONSISTENT' end,
    case when n = 1 then null else 1 end, now() - (n - 1) * interval '1 day', 'report:' || rut || n, now(), false, n > 1, false, now()
  from enterprise, generate_series(1, ?::int) n where rut <> ?`;
