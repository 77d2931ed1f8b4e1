import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import got from 'got';
import { aCfeBody } from '../support/cfeBodies.ts';
import { aRut } from '../support/papers.ts';
import { OWN } from './apiAlone.ts';
import { processorTimeOfTree } from './processorTime.ts';

const ENTERPRISES = Number(process.env['BENCH_ENTERPRISES'] ?? 50);
const EACH = Number(process.env['BENCH_EACH'] ?? 200);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 1);
/** Another checkout, whose stack takes turns with this one's. */
const BEFORE = process.env['BENCH_BEFORE'];
/** Requests that are under way at a time. */
const CALLERS = 48;
/** Enterprises that are onboarded at a time. */
const ONBOARDED_AT_ONCE = 5;

type Stack = Awaited<ReturnType<typeof import('../support/stacks.ts')['startTestStack']>>;

/**
 * CFEs that many enterprises post at once, on the whole local stack, from the first POST to the last verdict: how many a
 * second that are, what each took of the processor, and how many runs there were.
 */
export async function run(): Promise<void> {
  const checkouts = BEFORE === undefined ? [OWN] : [BEFORE, OWN];
  for (let round = 1; round <= ROUNDS; round += 1)
    for (const checkout of checkouts)
      await withStack(checkout, {}, async (stack, ruts) => {
        const before = spent(stack);
        const started = performance.now();
        await postAll(stack, ruts);
        const posted = (performance.now() - started) / 1_000;
        const total = ruts.length * EACH;
        await untilCount(stack, 'settled_at is not null', total);
        const seconds = (performance.now() - started) / 1_000;
        const after = spent(stack);
        const costs = Object.entries(after).map(
          ([name, time]) => `${name} ${((1_000 * (time - (before[name] ?? 0))) / total).toFixed(1)}`,
        );
        console.log(
          `round ${round}, ${checkout}: ${total} CFEs of ${ruts.length} enterprises posted in ${posted.toFixed(1)} s, all decided after ${seconds.toFixed(1)} s: ${(total / seconds).toFixed(1)} CFEs /s; milliseconds of processor for each: ${costs.join(', ')}; ${await tellOf(stack)}`,
        );
      });
}

/** Starts the stack of a checkout, with enterprises that are READY. */
export async function withStack(
  checkout: string,
  environment: Record<string, string>,
  work: (stack: Stack, ruts: readonly string[]) => Promise<void>,
): Promise<void> {
  const { startTestStack } = (await import(
    pathToFileURL(join(checkout, 'test/support/stacks.ts')).href
  )) as typeof import('../support/stacks.ts');
  const stack = await startTestStack({ CFE_LOG_LEVEL: 'warn', ...environment });
  try {
    await work(stack, await onboardAll(stack, ENTERPRISES));
  } finally {
    await stack.stop();
  }
}

/** So many enterprises, READY; their RUTs. */
export async function onboardAll(stack: Pick<Stack, 'onboard'>, count: number): Promise<readonly string[]> {
  const ruts = Array.from({ length: count }, () => aRut());
  for (let at = 0; at < ruts.length; at += ONBOARDED_AT_ONCE)
    await Promise.all(ruts.slice(at, at + ONBOARDED_AT_ONCE).map((rut) => stack.onboard([101], rut)));
  return ruts;
}

/** Posts EACH e-Tickets of every enterprise, one enterprise after the other in turns. */
export async function postAll(stack: Stack, ruts: readonly string[]): Promise<void> {
  const { base_url, live_api_key } = stack.info();
  const api = got.extend({
    prefixUrl: base_url,
    retry: { limit: 0 },
    headers: { 'x-api-key': live_api_key },
  });
  const { data } = await api.post('tokens', { json: {} }).json<{ data: { access_token: string } }>();
  const headers = { authorization: `Bearer ${data.access_token}` };
  const json = aCfeBody();
  let next = 0;
  const caller = async (): Promise<void> => {
    while (next < ruts.length * EACH) {
      const rut = ruts[next++ % ruts.length];
      await api.post(`enterprises/${rut}/cfes`, { json, headers });
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
}

/** Waits until so many CFEs are so. */
export async function untilCount(stack: Stack, condition: string, wanted: number): Promise<void> {
  for (;;) {
    const [row] = await stack.orm.em
      .fork()
      .execute<{ count: number }[]>(`select count(*)::integer as count from cfe where ${condition}`);
    if ((row?.count ?? 0) >= wanted) return;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

/** How many sobres there were, and how many calls the authority had. */
export async function tellOf(stack: Stack): Promise<string> {
  const [row] = await stack.orm.em
    .fork()
    .execute<{ count: number }[]>('select count(*)::integer as count from sobre');
  const calls = await got
    .get(`${stack.info().simulator_url}/portal/calls`)
    .json<{ items: { operation: string; answered: number; refused: number }[] }>()
    .catch(() => null);
  const said = calls?.items.map(({ operation, answered, refused }) => `${operation} ${answered}+${refused}`);
  return `${row?.count ?? 0} sobres; calls answered+refused: ${said?.join(', ') ?? 'not counted'}`;
}

/** Processor time so far, by part of the stack, in seconds. */
function spent(stack: Stack): Record<string, number> {
  const { supervisor: _, ...parts } = stack.info().pids;
  return Object.fromEntries(
    Object.entries(parts).map(([name, pid]) => [name, pid === null ? 0 : processorTimeOfTree(pid)]),
  );
}
