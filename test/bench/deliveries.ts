import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { pino } from 'pino';
import { addWebhook, testWebhook, type WebhookCommandDeps } from '../../src/commands/webhooks/webhooks.ts';
import type { Orm } from '../../src/db/orm.ts';
import { recordTestEvent } from '../../src/db/webhooks/events.ts';
import { createDispatcher } from '../../src/outbox/dispatcher.ts';
import { anAccount } from '../support/commandDeps.ts';
import { cloneDatabase } from '../support/database/database.ts';
import { aKeyPair } from '../support/database/sealing.ts';
import { freePort, startServices } from '../support/processes/services.ts';
import { type ExtraProgram, startProgram } from '../support/stacks.ts';
import { until } from '../support/until.ts';
import { aTestAuthority, startReceiver } from '../support/webhooks/receiver.ts';
import { processorTime } from './tools/processorTime.ts';

const DELIVERIES = Number(process.env['BENCH_DELIVERIES'] ?? 10_000);
const WATCH_SECONDS = Number(process.env['BENCH_SECONDS'] ?? 20);
const HEALTHY = 20;
/** Histories read: of those whose first attempt came last. */
const SAMPLE = 50;
const ROWS_AT_ONCE = 500;
/** In place of 1, 5 and 30 minutes, so that the first is still waiting when the last has begun to. */
const DELAYS = [7_200_000, 7_200_000, 7_200_000];
const LONGEST_FILL_SECONDS = 3_600;

/**
 * Many deliveries to a receiver that is down, each after its first attempt, waiting for the next: what they cost a
 * real worker process, how long their histories are, and how quickly another receiver is told meanwhile.
 */
export async function run(): Promise<void> {
  const services = await startServices({ say: console.log });
  Object.assign(process.env, services.environment);
  const database = await cloneDatabase();
  const authority = await aTestAuthority();
  const receiver = await startReceiver(authority);
  const folder = mkdtempSync(join(tmpdir(), 'cfe-bench-'));
  const keys = aKeyPair('bench');
  const temporalAddress = process.env['TEMPORAL_ADDRESS'] ?? '';
  const connection = await Connection.connect({ address: temporalAddress });
  const { orm } = database;
  const outbox = createDispatcher({
    orm,
    temporal: { address: temporalAddress },
    namespace: 'default',
    logger: pino({ level: 'silent' }),
  });
  let worker: ExtraProgram | undefined;
  try {
    const caFile = join(folder, 'ca.pem');
    writeFileSync(caFile, authority.caPem);
    worker = await startWorker({
      databaseUrl: database.databaseUrl,
      temporalAddress,
      keys: keys.privateText,
      caFile,
    });
    const deps = {
      orm,
      outbox,
      clock: () => new Date(),
      sealer: keys.sealer,
      localReceivers: true,
    };
    const accountId = await anAccount(orm);
    const hook = async (url: string): Promise<string> =>
      (await addWebhook(deps, { accountId, url, events: ['efactura.login'] })).webhook.id;
    const down = await hook(`https://127.0.0.1:${await freePort()}/`);
    const healthy = await hook(receiver.url());

    console.log('worker without deliveries:', await burden(worker.child.pid ?? 0));
    reportLatency('without deliveries', await tellOneByOne(deps, orm, healthy));
    const seconds = await fill(orm, down);
    const count = DELIVERIES.toLocaleString('en');
    console.log(`${count} deliveries begun, tried once: ${seconds.toFixed(0)} s`);
    const events = await eventsOfTheLast(new Client({ connection }), orm, down);
    console.log(`events in a history: ${Math.min(...events)} to ${Math.max(...events)}`);
    console.log(`worker while ${count} wait:`, await burden(worker.child.pid ?? 0));
    reportLatency(`while ${count} wait`, await tellOneByOne(deps, orm, healthy));
  } finally {
    await worker?.stop();
    await outbox.close();
    await connection.close();
    await receiver.close();
    await database[Symbol.asyncDispose]();
    await services.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Puts all deliveries on their way, as events do it, and waits until each was tried once; in how many seconds. */
async function fill(orm: Orm, webhookId: string): Promise<number> {
  const started = performance.now();
  for (let made = 0; made < DELIVERIES; made += ROWS_AT_ONCE) {
    await orm.em.fork().transactional(async (em) => {
      for (let i = made; i < Math.min(made + ROWS_AT_ONCE, DELIVERIES); i++)
        recordTestEvent(em, webhookId, new Date());
      await em.flush();
      await em.execute(
        `update outbox set input = jsonb_set(input, '{delays}', ?::jsonb) where dispatched_at is null`,
        [JSON.stringify(DELAYS)],
      );
    });
  }
  let nextWord = started + 30_000;
  await until('the first attempt of all deliveries', LONGEST_FILL_SECONDS, async () => {
    const [row] = await orm.em.fork().execute<{ n: number }[]>(
      `select count(*)::integer as n from delivery_attempt a join delivery d on d.id = a.delivery_id
         where d.webhook_id = ?`,
      [webhookId],
    );
    if (performance.now() > nextWord) {
      console.log(`  tried once: ${row?.n}`);
      nextWord += 30_000;
    }
    if (row?.n === DELIVERIES) return true;
    await pause(500);
    return undefined;
  });
  return (performance.now() - started) / 1_000;
}

/** How many events the histories of the deliveries have that were tried last, once each of them waits by its timer. */
async function eventsOfTheLast(client: Client, orm: Orm, webhookId: string): Promise<number[]> {
  const rows = await orm.em.fork().execute<{ id: string; workflowId: string }[]>(
    `select d.id, d.workflow_id as "workflowId" from delivery d join delivery_attempt a on a.delivery_id = d.id
     where d.webhook_id = ? order by a.at desc limit ?`,
    [webhookId, SAMPLE],
  );
  return Promise.all(
    rows.map(({ id, workflowId }) =>
      until(`the timer of delivery ${id}`, 60, async () => {
        const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
        return events?.at(-1)?.timerStartedEventAttributes ? events.length : undefined;
      }),
    ),
  );
}

/** Tests of one receiver, one after the other: milliseconds from the request to the stored answer of each. */
async function tellOneByOne(deps: WebhookCommandDeps, orm: Orm, webhookId: string): Promise<number[]> {
  const milliseconds: number[] = [];
  for (let i = 0; i < HEALTHY; i++) {
    const started = performance.now();
    const { id } = await testWebhook(deps, { webhookId });
    const deadline = started + 60_000;
    for (;;) {
      const [row] = await orm.em
        .fork()
        .execute<{ status: string }[]>('select status from delivery where id = ?', [id]);
      if (row?.status === 'DELIVERED') break;
      if (performance.now() > deadline) throw new Error('a healthy receiver was not told within a minute');
      await pause(5);
    }
    milliseconds.push(performance.now() - started);
  }
  return milliseconds;
}

function reportLatency(when: string, milliseconds: number[]): void {
  const sorted = milliseconds.toSorted((a, b) => a - b);
  const at = (index: number): string => (sorted[index] ?? 0).toFixed(0);
  console.log(
    `one delivery to a healthy receiver, ${when}: median ${at(Math.floor(sorted.length / 2))} ms, slowest ${at(sorted.length - 1)} ms of ${sorted.length}`,
  );
}

/** Resident memory, and the share of one core that a process uses, over some seconds. */
async function burden(pid: number): Promise<string> {
  const before = processorTime(pid);
  const started = performance.now();
  await pause(WATCH_SECONDS * 1_000);
  const share = (processorTime(pid) - before) / ((performance.now() - started) / 1_000);
  const pages = Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]);
  return `${((pages * 4_096) / 1e6).toFixed(0)} MB, ${(share * 100).toFixed(1)} % of a core`;
}

const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

async function startWorker(of: {
  databaseUrl: string;
  temporalAddress: string;
  keys: string;
  caFile: string;
}): Promise<ExtraProgram> {
  const port = await freePort();
  // Nothing asks the authority here: nobody listens there.
  const authority = `http://127.0.0.1:${await freePort()}`;
  const url = `http://127.0.0.1:${port}`;
  return startProgram('worker', {
    baseUrl: url,
    healthUrl: url,
    sign: '/readyz',
    environment: {
      PATH: process.env['PATH'],
      DATABASE_URL: of.databaseUrl,
      TEMPORAL_ADDRESS: of.temporalAddress,
      CFE_WORKER_METRICS_PORT: String(port),
      CFE_LOG_LEVEL: 'warn',
      CFE_KEY_ENCRYPTION_KEYS: of.keys,
      CFE_WEBHOOK_LOCAL_CA_FILE: of.caFile,
      CFE_DEVELOPMENT: 'true',
      CFE_CREDENTIALS_URL: authority,
      CFE_DGI_PRODUCTION_RECEPTION_URL: authority,
      CFE_DGI_PRODUCTION_CONSULTATION_URL: authority,
      CFE_DGI_PRODUCTION_REGISTRY_URL: authority,
      CFE_DGI_SANDBOX_RECEPTION_URL: authority,
      CFE_DGI_SANDBOX_CONSULTATION_URL: authority,
    },
  });
}
