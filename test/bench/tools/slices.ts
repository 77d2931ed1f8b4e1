/** What went on in each tenth of a second of a stack, to be held against the requests that were slow in it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Orm } from '../../../src/db/orm.ts';
import type { Bench } from './stack.ts';

const SLICE_MILLISECONDS = 100;
/** What a look sees holds for so long before it. */
const MOMENT_MILLISECONDS = 5;

/** Two moments, by Date.now(). */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** What was measured in between, by what it is; the name says the unit. */
export interface Slice extends Span {
  readonly values: Readonly<Record<string, number>>;
}

/** The variables by which every program of a stack notes its event loop in a folder. The bench does so from now on. */
export async function watchEventLoops(folder: string): Promise<Record<string, string>> {
  const module = `${pathToFileURL(join(import.meta.dirname, 'eventLoop.ts')).href}?folder=${folder}`;
  await import(module);
  return { NODE_OPTIONS: `--disable-warning=ExperimentalWarning --import=${module}` };
}

/** How it is called, how long the event loop of a process was held up. */
export const heldUpOf = (name: string): string => `event loop of the ${name} held up at most, ms`;

/** What a process noted of its event loop. */
export function eventLoopOf(folder: string, name: string, pid: number): Slice[] {
  const lines = readFileSync(join(folder, String(pid)), 'utf8')
    .trim()
    .split('\n');
  return lines.map((line) => {
    const { from, to, heldUp, garbage } = JSON.parse(line) as Record<
      'from' | 'to' | 'heldUp' | 'garbage',
      number
    >;
    const values = {
      [heldUpOf(name)]: heldUp,
      [`garbage collected by the ${name}, ms`]: garbage,
    };
    return { from, to, values };
  });
}

/** Looks some ten times a second at the main thread of the API and at its sessions in PostgreSQL; `end` tells what was seen. */
export function lookAround({ stack, pids }: Bench): { end(): Promise<Slice[]> } {
  const slices: Slice[] = [];
  const moments: Slice[] = [];
  const over = new AbortController();
  const looks = (async () => {
    let before = await look(stack.orm, pids['api'] ?? 0);
    while (!over.signal.aborted) {
      await new Promise((resolve) => setTimeout(resolve, SLICE_MILLISECONDS));
      const now = await look(stack.orm, pids['api'] ?? 0);
      const milliseconds = now.at - before.at;
      const share = (nanoseconds: number): number => nanoseconds / 1e4 / milliseconds;
      const values = {
        'API: runs, % of a core': share(now.api.runs - before.api.runs),
        'API: waits for a core, %': share(now.api.waits - before.api.waits),
        'its sessions in PostgreSQL: wait for a core, %': share(
          [...now.sessions].reduce(
            (sum, [pid, { waits }]) => sum + waits - (before.sessions.get(pid)?.waits ?? waits),
            0,
          ),
        ),
        'WAL, MB/s': (now.wal - before.wal) / 1e3 / milliseconds,
      };
      slices.push({ from: before.at, to: now.at, values });
      moments.push({ from: now.at - MOMENT_MILLISECONDS, to: now.at, values: now.seen });
      before = now;
    }
  })();
  return {
    async end() {
      over.abort();
      await looks;
      // What is not named at a moment was done by none.
      const none = Object.fromEntries(
        moments.flatMap(({ values }) => Object.keys(values).map((name) => [name, 0])),
      );
      return [...slices, ...moments.map((slice) => ({ ...slice, values: { ...none, ...slice.values } }))];
    },
  };
}

async function look(orm: Orm, api: number) {
  const [row] = await orm.em
    .fork()
    .execute<{ wal: number; checkpoint: number; sessions: number[]; doing: Record<string, number> }[]>(
      `with session as materialized (
       select pid, state, wait_event_type, wait_event from pg_stat_activity where usename = 'cfe_api')
     select (pg_current_wal_insert_lsn() - '0/0')::float8 as wal,
       (select count(*)::integer from pg_stat_activity
        where backend_type = 'checkpointer' and wait_event is distinct from 'CheckpointerMain') as checkpoint,
       (select coalesce(json_agg(pid), '[]') from session) as sessions,
       (select coalesce(json_object_agg(what, count), '{}') from (
          select 'its sessions: ' || case state when 'active' then coalesce(wait_event_type || ' ' || wait_event, 'on a core or ready for one')
            else state end as what, count(*) from session where state <> 'idle' group by 1)) as doing`,
    );
  const { wal = 0, checkpoint = 0, sessions = [], doing = {} } = row ?? {};
  return {
    at: Date.now(),
    api: scheduled(api),
    sessions: new Map(sessions.map((pid) => [pid, scheduled(pid)])),
    wal,
    seen: { 'a checkpoint runs, %': 100 * checkpoint, ...doing },
  };
}

/** How long the main thread of a process was on a core so far, and how long it waited for one; nanoseconds. */
function scheduled(pid: number): { runs: number; waits: number } {
  try {
    const [runs = 0, waits = 0] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ').map(Number);
    return { runs, waits };
  } catch {
    return { runs: 0, waits: 0 };
  }
}

/** Of each measure: its mean over all slices, and over those in which one of `calls` was in progress, call by call. */
export function compare(
  slices: readonly Slice[],
  calls: readonly Span[],
): { what: string; always: number; met: number }[] {
  const names = [...new Set(slices.flatMap(({ values }) => Object.keys(values)))];
  return names.map((what) => {
    const measured = slices.filter(({ values }) => what in values);
    const during = calls.map(({ from, to }) =>
      measured.filter((slice) => slice.to > from && slice.from < to),
    );
    return {
      what,
      always: mean(measured.map(({ values }) => values[what])),
      met: mean(during.filter((of) => of.length > 0).map((of) => mean(of.map(({ values }) => values[what])))),
    };
  });
}

const mean = (numbers: readonly (number | undefined)[]): number =>
  numbers.reduce<number>((sum, number) => sum + (number ?? 0), 0) / Math.max(1, numbers.length);
