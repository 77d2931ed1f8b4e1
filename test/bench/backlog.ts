import got from 'got';
import { OWN } from './apiAlone.ts';
import { postAll, tellOf, untilCount, withStack } from './burst.ts';

const SENDS_PER_SECOND = process.env['BENCH_SENDS_PER_SECOND'] ?? '5';

/**
 * CFEs that were posted while the authority was away, and wait as rows, when it is back: how long until all of them are with
 * it, and how often it is called, at a rate of a few sends a second.
 */
export async function run(): Promise<void> {
  await withStack(OWN, { CFE_DGI_SENDS_PER_SECOND: SENDS_PER_SECOND }, async (stack, ruts) => {
    const outage = (seconds: number) =>
      got.put(`${stack.info().simulator_url}/portal/outage`, { json: { seconds } });
    console.log(`before: ${await tellOf(stack)}`);
    await outage(86_400);
    await postAll(stack, ruts);
    const [row] = await stack.orm.em
      .fork()
      .execute<{ total: number }[]>('select count(*)::integer as total from cfe');
    const total = row?.total ?? 0;
    console.log(`${total} CFEs posted while the authority is away: ${await tellOf(stack)}`);
    await outage(0);
    const started = performance.now();
    const seconds = () => ((performance.now() - started) / 1_000).toFixed(0);
    await untilCount(stack, `status <> 'PENDING'`, total);
    console.log(`all received ${seconds()} s after the authority was back: ${await tellOf(stack)}`);
    await untilCount(stack, 'settled_at is not null', total);
    console.log(`all decided ${seconds()} s after the authority was back: ${await tellOf(stack)}`);
  });
}
