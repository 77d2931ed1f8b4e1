import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import got from 'got';
import type { StackInfo } from '../../local/stack/stackFile.ts';
import type { Orm } from '../../src/db/orm.ts';
import { type Program, ready, start } from '../support/processes/processes.ts';
import { aCfeBody } from '../support/receipts/cfeBodies.ts';
import { startBeside } from '../support/stacks.ts';
import { quantile } from './tools/load.ts';
import { costsOf, spentBy } from './tools/processorTime.ts';
import { type Bench, withStack } from './tools/stack.ts';

const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 30);
/** CFEs, and workflows that do nothing, that are in progress at a time. A verdict takes some seconds however idle we are. */
const IN_FLIGHT = Number(process.env['BENCH_IN_FLIGHT'] ?? 150);
/** Workers of the service: that of the stack, and more beside it. */
const WORKERS = Number(process.env['BENCH_WORKERS'] ?? 1);
/** Until what comes out is what goes in. */
const WARM_UP_SECONDS = 15;
/** The rates at the authority are not what is measured: a CFE alone takes one send and two questions. */
const RATES = { CFE_DGI_SENDS_PER_SECOND: '500', CFE_DGI_QUESTIONS_PER_SECOND: '500' };
/** Histories read. */
const SAMPLE = 20;

/** One thing from its beginning to its end. */
type Run = (lane: number) => Promise<void>;

/**
 * CFEs from POST to verdict per second on the whole local stack, each of an enterprise of its own and so alone in its sobre, and in turns with them, on the same Temporal server,
 * workflows of three activities that do nothing, run by a worker of the same options and awaited by a client. Beside:
 * what each part of the stack took of the processor, and how long the histories are.
 */
export async function run(): Promise<void> {
  await withStack({ enterprises: IN_FLIGHT, environment: RATES }, measureOn);
}

async function measureOn({ stack, ruts, pids }: Bench): Promise<void> {
  const info = stack.info();
  const connection = await Connection.connect({ address: info.temporal_address });
  const client = new Client({ connection, namespace: info.temporal_namespace });
  let worker: Program | undefined;
  const more: Program[] = [];
  try {
    while (more.length < WORKERS - 1)
      more.push(await startBeside(stack, 'worker', { CFE_LOG_LEVEL: 'warn' }));
    worker = await startNoopWorker(info);
    const issue = await issuer(info, ruts);
    const noop: Run = () =>
      client.workflow.execute('noop', { taskQueue: 'bench-own', workflowId: `noop:${randomUUID()}` });

    const others = more.map(({ child }, i) => [`worker ${i + 2}`, child.pid ?? 0] as const);
    const parts = { ...pids, ...Object.fromEntries(others), 'no-op worker': worker.child.pid ?? 0 };
    const rates: Record<'cfe' | 'noop', number[]> = { cfe: [], noop: [] };
    for (let round = 1; round <= ROUNDS; round += 1) {
      rates.noop.push(await measure(`round ${round}, no-op workflows`, noop, parts));
      rates.cfe.push(await measure(`round ${round}, CFEs`, issue, parts));
    }
    const [cfes, noops] = [quantile(rates.cfe, 0.5), quantile(rates.noop, 0.5)];
    console.log(
      `\nmedians of ${ROUNDS} rounds: ${cfes.toFixed(1)} CFEs /s, ${noops.toFixed(1)} no-op workflows /s: ${((100 * cfes) / noops).toFixed(0)} %`,
    );
    console.log(await histories(client, stack.orm));
  } finally {
    await worker?.stop();
    for (const other of more) await other.stop();
    await connection.close();
  }
}

/** How many end per second while IN_FLIGHT are in progress, once that has become steady. */
async function measure(title: string, begin: Run, parts: Record<string, number>): Promise<number> {
  const over = new AbortController();
  let ended = 0;
  const lane = async (_: unknown, at: number): Promise<void> => {
    while (!over.signal.aborted) {
      await begin(at);
      ended += 1;
    }
  };
  const lanes = Promise.all(Array.from({ length: IN_FLIGHT }, lane));
  await Promise.race([pause(WARM_UP_SECONDS * 1_000), lanes]);
  const [started, endedBefore, spentBefore] = [performance.now(), ended, spentBy(parts)];
  await Promise.race([pause(SECONDS * 1_000), lanes]);
  const seconds = (performance.now() - started) / 1_000;
  const count = ended - endedBefore;
  const rate = count / seconds;
  const costs = costsOf(spentBefore, spentBy(parts), count);
  console.log(`${title}: ${rate.toFixed(1)} /s; milliseconds of processor for each: ${costs}`);
  over.abort();
  await lanes;
  return rate;
}

const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Issues an e-Ticket and waits for its verdict in the same request, or in further ones. */
async function issuer({ base_url, live_api_key }: StackInfo, ruts: readonly string[]): Promise<Run> {
  const api = got.extend({
    prefixUrl: base_url,
    retry: { limit: 0 },
    headers: { 'x-api-key': live_api_key },
  });
  const { data } = await api.post('tokens', { json: {} }).json<{ data: { access_token: string } }>();
  const headers = { authorization: `Bearer ${data.access_token}`, prefer: 'wait=30' };
  const document = aCfeBody();
  interface Cfe {
    cfe_id: string;
    cfe_status: string;
  }
  return async (lane) => {
    const path = `enterprises/${ruts[lane % ruts.length]}/cfes`;
    let { data: cfe } = await api.post(path, { json: document, headers }).json<{ data: Cfe }>();
    while (cfe.cfe_status === 'PENDING' || cfe.cfe_status === 'RECEIVED') {
      await pause(500);
      const answer = await api.get(`${path}/${cfe.cfe_id}`, { headers }).json<{ data: { items: Cfe[] } }>();
      cfe = answer.data.items[0] ?? cfe;
    }
    if (cfe.cfe_status !== 'ACCEPTED') throw new Error(`${cfe.cfe_id} ended ${cfe.cfe_status}`);
  };
}

/** Events and activities in the histories of the CFEs that were settled last. */
async function histories(client: Client, orm: Orm): Promise<string> {
  const rows = await orm.em
    .fork()
    .execute<{ workflowId: string }[]>(
      'select workflow_id as "workflowId" from cfe where settled_at is not null order by settled_at desc limit ?',
      [SAMPLE],
    );
  const counts = await Promise.all(
    rows.map(async ({ workflowId }) => {
      const handle = client.workflow.getHandle(workflowId);
      await handle.result();
      const { events } = await handle.fetchHistory();
      return {
        events: events?.length ?? 0,
        activities: events?.filter((event) => event.activityTaskScheduledEventAttributes).length ?? 0,
      };
    }),
  );
  const range = (numbers: number[]): string => `${Math.min(...numbers)} to ${Math.max(...numbers)}`;
  return `history of a CFE: ${range(counts.map(({ events }) => events))} events, ${range(counts.map(({ activities }) => activities))} activities (${rows.length} read)`;
}

async function startNoopWorker({
  temporal_address: address,
  temporal_namespace: namespace,
}: StackInfo): Promise<Program> {
  const env = { PATH: process.env['PATH'], TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace };
  const worker = start(['test/bench/tools/noopWorker.ts'], { env });
  await ready(worker, 'the worker of the no-op workflows', async () => worker.stdout() !== '');
  return worker;
}
