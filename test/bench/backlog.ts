import { type CallCount, callsOf, outage, postAll, tellOf, untilCount, withStack } from './tools/stack.ts';

const SENDS_PER_SECOND = process.env['BENCH_SENDS_PER_SECOND'] ?? '5';

/**
 * CFEs that were posted while the authority was away, and wait as rows, when it is back: how long until all of them are with
 * it, and how often it is called, at a rate of a few sends a second.
 */
export async function run(): Promise<void> {
  const environment = { CFE_DGI_SENDS_PER_SECOND: SENDS_PER_SECOND };
  await withStack({ environment }, async (bench) => {
    const before = await callsOf(bench);
    console.log(`before: ${await tellOf(bench)}`);
    await outage(bench, true);
    const total = await postAll(bench);
    console.log(`${total} CFEs posted while the authority is away: ${await tellOf(bench)}`);
    await outage(bench, false);
    const started = performance.now();
    const seconds = () => ((performance.now() - started) / 1_000).toFixed(0);
    await untilCount(bench, `status <> 'PENDING'`, total);
    console.log(`all received ${seconds()} s after the authority was back: ${await tellOf(bench)}`);
    await untilCount(bench, 'settled_at is not null', total);
    console.log(`all decided ${seconds()} s after the authority was back: ${await tellOf(bench)}`);
    const after = await callsOf(bench);
    const each = (how: 'answered' | 'refused') => ((sum(after, how) - sum(before, how)) / total).toFixed(3);
    console.log(
      `calls to the authority for each CFE: ${each('answered')} answered, and ${each('refused')} refused while it was away`,
    );
  });
}

const sum = (calls: readonly CallCount[], how: 'answered' | 'refused'): number =>
  calls.reduce((total, call) => total + call[how], 0);
