/** The whole local stack as benches use it. */
import got from 'got';
import { buildServer } from '../../../tools/drills/productionTemporal/build.ts';
import { startProductionTemporal } from '../../../tools/drills/productionTemporal/start.ts';
import { aCfeBody } from '../../support/receipts/cfeBodies.ts';
import { aRut } from '../../support/receipts/papers.ts';
import type { TestStack } from '../../support/stacks.ts';
import { newNamespace } from '../../support/temporal/namespace.ts';
import { fromCheckout, OWN, WITHOUT_LIMIT } from './apiAlone.ts';
import { type Call, logIn, send } from './load.ts';

/** How many enterprises there are unless a bench needs its own number, and how many CFEs of each a burst has. */
const ENTERPRISES = Number(process.env['BENCH_ENTERPRISES'] ?? 50);
const EACH = Number(process.env['BENCH_EACH'] ?? 200);
/** `production`: Temporal on PostgreSQL by the settings of docker-compose.temporal.yml, not that of the local stack. */
const TEMPORAL = process.env['BENCH_TEMPORAL'] ?? 'local';
/** Requests of a burst that are in progress at a time. */
const CALLERS = 48;
/** Enterprises that are onboarded at a time. */
const ONBOARDED_AT_ONCE = 5;

/** A stack that runs, and whom it serves. */
export interface Bench {
  readonly stack: TestStack;
  /** Of its enterprises, READY. */
  readonly ruts: readonly string[];
  /** Processes of the stack, by what they are; Temporal's database is one of its own in production. */
  readonly pids: Readonly<Record<string, number>>;
  /** Posts an e-Ticket, of one enterprise after the other in turns. */
  readonly post: Call;
}

/** Starts the stack of a checkout, with enterprises that are READY; it is gone after the work. */
export async function withStack(
  options: { checkout?: string; environment?: Record<string, string>; enterprises?: number },
  work: (bench: Bench) => Promise<void>,
): Promise<void> {
  const { checkout = OWN, environment = {}, enterprises = ENTERPRISES } = options;
  const { startTestStack } = await fromCheckout<typeof import('../../support/stacks.ts')>(
    checkout,
    'test/support/stacks.ts',
  );
  await using temporal = await openTemporal();
  const stack = await startTestStack({ CFE_LOG_LEVEL: 'warn', ...temporal.variables, ...environment });
  try {
    await stack.orm.em.fork().execute(WITHOUT_LIMIT);
    const ruts = await onboardAll(stack, enterprises);
    const { supervisor: _, ...parts } = stack.info().pids;
    const own = Object.entries(parts).filter((part): part is [string, number] => part[1] !== null);
    const pids = { ...Object.fromEntries(own), ...temporal.pids };
    const { base_url, live_api_key } = stack.info();
    const target = await logIn(Number(new URL(base_url).port), live_api_key);
    const body = JSON.stringify(aCfeBody());
    let turn = 0;
    const post = () => send(target, 'POST', `/v1/enterprises/${ruts[turn++ % ruts.length]}/cfes`, { body });
    await work({ stack, ruts, pids, post });
    target.agent.destroy();
  } finally {
    await stack.stop();
  }
}

/** What a stack needs to know of a Temporal that is not its own. */
interface TemporalBeside extends AsyncDisposable {
  readonly variables: Record<string, string>;
  readonly pids: Readonly<Record<string, number>>;
}

async function openTemporal(): Promise<TemporalBeside> {
  if (TEMPORAL === 'local') return { variables: {}, pids: {}, async [Symbol.asyncDispose]() {} };
  if (TEMPORAL !== 'production') throw new Error(`BENCH_TEMPORAL is local or production, not ${TEMPORAL}`);
  const temporal = await startProductionTemporal(buildServer(console.log), console.log);
  const { address, pids } = temporal;
  const variables = { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: await newNamespace(address) };
  return { variables, pids: { ...pids }, [Symbol.asyncDispose]: () => temporal.stop() };
}

async function onboardAll(stack: TestStack, count: number): Promise<readonly string[]> {
  const ruts = Array.from({ length: count }, () => aRut());
  for (let at = 0; at < ruts.length; at += ONBOARDED_AT_ONCE)
    await Promise.all(ruts.slice(at, at + ONBOARDED_AT_ONCE).map((rut) => stack.onboard([101], rut)));
  return ruts;
}

/** Posts so many e-Tickets at once, the burst's unless told; how many. */
export async function postAll(
  { post, ruts }: Bench,
  { count = ruts.length * EACH, callers = CALLERS } = {},
): Promise<number> {
  let left = count;
  const caller = async (): Promise<void> => {
    while (left-- > 0) await post();
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return count;
}

/** How many CFEs are so. */
export async function countOf({ stack }: Bench, condition: string): Promise<number> {
  const [row] = await stack.orm.em
    .fork()
    .execute<{ count: number }[]>(`select count(*)::integer as count from cfe where ${condition}`);
  return row?.count ?? 0;
}

/** Waits until at least so many CFEs are so. */
export async function untilCount(bench: Bench, condition: string, wanted: number): Promise<void> {
  while ((await countOf(bench, condition)) < wanted) await new Promise((resolve) => setTimeout(resolve, 250));
}

/** Takes the authority away, or brings it back. */
export async function outage({ stack }: Bench, isAway: boolean): Promise<void> {
  const json = { seconds: isAway ? 86_400 : 0 };
  await got.put(`${stack.info().simulator_url}/portal/outage`, { json });
}

/** SOAP calls to the authority so far, of an operation: while it was there, and while it was away. */
export interface CallCount {
  readonly operation: string;
  readonly answered: number;
  readonly refused: number;
}

/** SOAP calls so far. */
export async function callsOf({ stack }: Bench): Promise<readonly CallCount[]> {
  const { items } = await got
    .get(`${stack.info().simulator_url}/portal/calls`)
    .json<{ items: CallCount[] }>();
  return items;
}

/** How many sobres there were, and how many calls the authority had. */
export async function tellOf(bench: Bench): Promise<string> {
  const [row] = await bench.stack.orm.em
    .fork()
    .execute<{ count: number }[]>('select count(*)::integer as count from sobre');
  const said = (await callsOf(bench)).map(
    ({ operation, answered, refused }) => `${operation} ${answered}+${refused}`,
  );
  return `${row?.count ?? 0} sobres; calls answered+refused: ${said.join(', ') || 'none'}`;
}
