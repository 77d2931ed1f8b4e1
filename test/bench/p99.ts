import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { closedLoop, lineOf, openLoop, quantile, type Timings } from './tools/load.ts';
import { spentBy } from './tools/processorTime.ts';
import {
  compare,
  eventLoopOf,
  heldUpOf,
  lookAround,
  type Slice,
  type Span,
  watchEventLoops,
} from './tools/slices.ts';
import { type Bench, countOf, outage, postAll, untilCount, withStack } from './tools/stack.ts';

const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
/** Of a window. */
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 60);
/** For which the full load is measured. */
const FULL_SECONDS = Number(process.env['BENCH_FULL_SECONDS'] ?? 30);
/** CFEs of each enterprise in a burst: enough that they drain for longer than a window. */
const EACH = Number(process.env['BENCH_EACH'] ?? 400);
const CALLERS = 16;
/** Of the calls, those that are looked into. */
const SLOWEST = 0.01;

/** Whose event loops are looked at. A bench that is held up posts late. */
const WATCHED = ['api', 'worker', 'bench'] as const;

const KINDS = ['quiet', 'burst'] as const;
type Kind = (typeof KINDS)[number];

/** What went on, and the slowest calls, by Date.now(). */
interface Seen {
  readonly slices: Slice[];
  readonly slow: Span[];
}

/**
 * How late POSTs are answered at half of the rate that the API bears, on the whole local stack: windows in which nothing
 * else is to be done, in turns with windows in which a burst drains that was posted while the authority was away. Beside:
 * what each window took, and what went on while the slowest calls were in progress, held against the whole window.
 */
export async function run(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'cfe-p99-'));
  // The bench notes its own event loop there until its end.
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  await withStack({ environment: await watchEventLoops(folder) }, (bench) => measure(bench, folder));
}

async function measure(bench: Bench, folder: string): Promise<void> {
  const em = bench.stack.orm.em.fork();
  await em.execute('alter system set track_wal_io_timing = on');
  await em.execute('select pg_reload_conf()');
  await closedLoop(bench.post, CALLERS, FULL_SECONDS / 3);
  const full = await closedLoop(bench.post, CALLERS, FULL_SECONDS);
  console.log(lineOf('full load', full));
  const seen: Record<Kind, Seen> = { quiet: { slices: [], slow: [] }, burst: { slices: [], slow: [] } };
  for (let round = 1; round <= ROUNDS; round += 1) {
    for (const kind of KINDS) {
      await untilCount(bench, 'settled_at is not null', await countOf(bench, 'true'));
      if (kind === 'burst') await beginBurst(bench);
      const { slices, slow } = await window(`${kind} ${round}`, {
        bench,
        folder,
        perSecond: full.perSecond / 2,
      });
      seen[kind].slices.push(...slices);
      seen[kind].slow.push(...slow);
    }
  }
  console.log(explanation(seen));
}

/** Lets many CFEs wait for the authority; returns when the first of them have their verdict. */
async function beginBurst(bench: Bench): Promise<void> {
  await outage(bench, true);
  await postAll(bench, { count: bench.ruts.length * EACH });
  const decided = await countOf(bench, 'settled_at is not null');
  await outage(bench, false);
  await untilCount(bench, 'settled_at is not null', decided + 1);
}

/** A steady rate for some time; says what it took. */
async function window(
  title: string,
  { bench, folder, perSecond }: { bench: Bench; folder: string; perSecond: number },
): Promise<Seen> {
  const before = await stateOf(bench);
  const around = lookAround(bench);
  const timings = await openLoop(bench.post, perSecond, SECONDS);
  const slices = await around.end();
  const after = await stateOf(bench);

  const since = (of: (state: State) => number): number => of(after) - of(before);
  const seconds = since(({ at }) => at) / 1_000;
  const shares = Object.keys(after.spent).map(
    (name) => `${name} ${((100 * since(({ spent }) => spent[name] ?? 0)) / seconds).toFixed(0)}`,
  );
  const fsyncs = since((state) => state.fsyncs);
  const pids: Record<string, number> = { ...bench.pids, bench: process.pid };
  const loops = WATCHED.map(
    (name) =>
      [name, eventLoopOf(folder, name, pids[name] ?? 0).filter(({ from }) => from >= before.at)] as const,
  );
  const heldUp = loops.map(([name, of]) => {
    const numbers = of.map(({ values }) => values[heldUpOf(name)] ?? 0);
    return `${name} ${quantile(numbers, 0.5).toFixed(0)} / ${quantile(numbers, 0.99).toFixed(0)} / ${Math.max(0, ...numbers).toFixed(0)}`;
  });
  console.log(
    [
      `${lineOf(title, timings)}  max ${Math.max(...timings.milliseconds).toFixed(1)}`,
      `waiting ${before.waiting} → ${after.waiting}, ${since(({ decided }) => decided)} decided`,
      `% of a core: ${shares.join(', ')}`,
      `WAL ${(since(({ wal }) => wal) / 1e6).toFixed(0)} MB, ${since(({ checkpoints }) => checkpoints)} checkpoints, ${fsyncs} fsyncs of ${(since((state) => state.fsyncMilliseconds) / Math.max(1, fsyncs)).toFixed(2)} ms`,
      `event loops held up in a tenth of a second at most, ms, p50 / p99 / max: ${heldUp.join(', ')}`,
    ].join('\n    '),
  );
  return { slices: [...slices, ...loops.flatMap(([, of]) => of)], slow: slowest(timings) };
}

type State = Awaited<ReturnType<typeof stateOf>>;

async function stateOf(bench: Bench) {
  const [row] = await bench.stack.orm.em
    .fork()
    .execute<Record<'wal' | 'fsyncs' | 'fsyncMilliseconds' | 'checkpoints', number>[]>(
      `select wal_bytes::float8 as wal, num_done::float8 as checkpoints, fsyncs::float8, "fsyncMilliseconds"
     from pg_stat_wal, pg_stat_checkpointer,
       (select sum(fsyncs) as fsyncs, sum(fsync_time) as "fsyncMilliseconds" from pg_stat_io where object = 'wal') io`,
    );
  if (!row) throw new Error('PostgreSQL counts nothing');
  return {
    ...row,
    waiting: await countOf(bench, 'settled_at is null'),
    decided: await countOf(bench, 'settled_at is not null'),
    spent: spentBy(bench.pids),
    at: Date.now(),
  };
}

/** The calls that were answered last. */
function slowest({ milliseconds, due }: Timings): Span[] {
  const bound = quantile(milliseconds, 1 - SLOWEST);
  return milliseconds.flatMap((took, i) => {
    const from = performance.timeOrigin + (due[i] ?? 0);
    return took >= bound ? [{ from, to: from + took }] : [];
  });
}

/** Each measure, in all of the windows of a kind and while the slowest calls were in progress. */
function explanation({ quiet, burst }: Record<Kind, Seen>): string {
  const [inQuiet, inBurst] = [compare(quiet.slices, quiet.slow), compare(burst.slices, burst.slow)];
  const names = [...new Set([...inQuiet, ...inBurst].map(({ what }) => what))];
  const cell = (of: typeof inQuiet, name: string): string => {
    const found = of.find(({ what }) => what === name);
    return [found?.always, found?.met].map((value = 0) => value.toFixed(2).padStart(9)).join('');
  };
  const seconds = ({ slow }: Seen): number => new Set(slow.map(({ from }) => Math.floor(from / 1_000))).size;
  return [
    `\nthe slowest ${100 * SLOWEST} % of POSTs: ${quiet.slow.length} in ${seconds(quiet)} seconds of the quiet windows, ${burst.slow.length} in ${seconds(burst)} of those with a burst`,
    `${''.padEnd(64)}    quiet: always, then     burst: always, then`,
    ...names.map((name) => `${name.padEnd(64)}${cell(inQuiet, name)}    ${cell(inBurst, name)}`),
  ].join('\n');
}
