import { randomUUID } from 'node:crypto';
import { aCfeBody } from '../support/receipts/cfeBodies.ts';
import { type ApiAlone, OWN, startApiAlone, startServers } from './tools/apiAlone.ts';
import { type Call, closedLoop, lineOf, openLoop, quantile, send, type Target } from './tools/load.ts';
import { processorTime, processorTimeOfTree } from './tools/processorTime.ts';

const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 8);
/** A second checkout, whose API is measured in turns with this one's. */
const BEFORE = process.env['BENCH_BEFORE'];
const CALLERS = 16;
const MANY = 20;

/** How enterprises are called upon. */
const WAYS = ['one enterprise', 'many enterprises', 'one, Idempotency-Key'] as const;
type Way = (typeof WAYS)[number];

/** What takes turns: the API of one checkout, or two of them on one database. */
interface Subject {
  readonly name: string;
  readonly pids: readonly number[];
  readonly call: Readonly<Record<Way, Call>>;
}

/**
 * POST …/cfes against one API and one PostgreSQL, which waits for the disk at every commit; Temporal is one that agrees
 * to everything. With BENCH_BEFORE the API of another checkout takes turns with this one's, so that other load on the
 * machine strikes both.
 */
export async function run(): Promise<void> {
  const servers = await startServers();
  const subjects: Subject[] = [];
  const started: Pick<ApiAlone, 'stop'>[] = [];
  const add = (name: string, apis: readonly Pick<ApiAlone, 'pid' | 'target'>[], ruts: readonly string[]) => {
    const targets = apis.map(({ target }) => target);
    subjects.push({ name, pids: apis.map(({ pid }) => pid), call: callsOf(targets, ruts) });
  };
  const startOf = async (checkout: string): Promise<ApiAlone> => {
    const api = await startApiAlone(servers, { checkout, enterprises: MANY });
    started.unshift(api);
    return api;
  };
  try {
    if (BEFORE) {
      const before = await startOf(BEFORE);
      add('before', [before], before.ruts);
    }
    const now = await startOf(OWN);
    const second = await now.another();
    started.unshift(second);
    add(BEFORE ? 'after' : 'now', [now], now.ruts);
    add('two APIs', [now, second], now.ruts);
    await measure(subjects, servers.postgresPid);
  } finally {
    for (const api of started) await api.stop();
    await servers.stop();
  }
}

async function measure(subjects: readonly Subject[], postgres: number): Promise<void> {
  const full = new Map<string, number[]>();
  const late = new Map<string, number[]>();
  const note = (map: Map<string, number[]>, key: string, value: number): void =>
    void map.set(key, [...(map.get(key) ?? []), value]);
  for (const { call } of subjects) await closedLoop(call['one enterprise'], CALLERS, SECONDS);
  for (let round = 1; round <= ROUNDS; round += 1) {
    for (const way of WAYS) {
      for (const { name, call, pids } of subjects) {
        const title = `${name}, ${way}`;
        const spent = (): number => pids.reduce((sum, pid) => sum + processorTime(pid), 0);
        const [api, database] = [spent(), processorTimeOfTree(postgres)];
        const most = await closedLoop(call[way], CALLERS, SECONDS);
        const each = (seconds: number): string => ((1_000 * seconds) / most.milliseconds.length).toFixed(1);
        const costs = `API ${each(spent() - api)}, PostgreSQL ${each(processorTimeOfTree(postgres) - database)} ms of processor each`;
        console.log(`${lineOf(`${title}, full load`, most)}   ${costs}`);
        const half = await openLoop(call[way], most.perSecond / 2, SECONDS);
        console.log(lineOf(`${title}, half load`, half));
        note(full, title, most.perSecond);
        note(late, title, quantile(half.milliseconds, 0.99));
      }
    }
  }
  console.log(`\nmedians of ${ROUNDS} rounds`);
  for (const [title, rates] of full) {
    const p99 = quantile(late.get(title) ?? [], 0.5).toFixed(1);
    console.log(
      `${title.padEnd(34)} ${quantile(rates, 0.5).toFixed(0).padStart(6)} /s   p99 at half load ${p99} ms`,
    );
  }
}

function callsOf(targets: readonly Target[], ruts: readonly string[]): Record<Way, Call> {
  const body = JSON.stringify(aCfeBody());
  let turn = 0;
  const post = async (rut: string | undefined, more: Record<string, string> = {}): Promise<void> => {
    turn += 1;
    const target = targets[turn % targets.length];
    if (!target || rut === undefined) throw new Error('nothing to call');
    await send(target, 'POST', `/v1/enterprises/${rut}/cfes`, { body, more });
  };
  return {
    'one enterprise': () => post(ruts[0]),
    'many enterprises': () => post(ruts[turn % ruts.length]),
    'one, Idempotency-Key': () => post(ruts[0], { 'idempotency-key': randomUUID() }),
  };
}
