import { OWN } from './tools/apiAlone.ts';
import { costsOf, spentBy } from './tools/processorTime.ts';
import { postAll, tellOf, untilCount, withStack } from './tools/stack.ts';

const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 1);
/** Another checkout, whose stack takes turns with this one's. */
const BEFORE = process.env['BENCH_BEFORE'];

/**
 * CFEs that many enterprises post at once, on the whole local stack, from the first POST to the last verdict: how many a
 * second that are, what each took of the processor, and how many runs there were.
 */
export async function run(): Promise<void> {
  const checkouts = BEFORE === undefined ? [OWN] : [BEFORE, OWN];
  for (let round = 1; round <= ROUNDS; round += 1)
    for (const checkout of checkouts)
      await withStack({ checkout }, async (bench) => {
        const before = spentBy(bench.pids);
        const started = performance.now();
        const total = await postAll(bench);
        const posted = (performance.now() - started) / 1_000;
        await untilCount(bench, 'settled_at is not null', total);
        const seconds = (performance.now() - started) / 1_000;
        const costs = costsOf(before, spentBy(bench.pids), total);
        console.log(
          `round ${round}, ${checkout}: ${total} CFEs of ${bench.ruts.length} enterprises posted in ${posted.toFixed(1)} s, all decided after ${seconds.toFixed(1)} s: ${(total / seconds).toFixed(1)} CFEs /s; milliseconds of processor for each: ${costs}; ${await tellOf(bench)}`,
        );
      });
}
