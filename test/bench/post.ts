import { randomUUID } from 'node:crypto';
import { aCfeBody } from '../support/cfeBodies.ts';
import { type ApiAlone, OWN, startApiAlone, startServers } from './apiAlone.ts';
import { type Call, closedLoop, lineOf, openLoop, quantile, send, type Target } from './load.ts';
import { processorTime, processorTimeOfTree } from './processorTime.ts';

const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 8);
/** A second checkout, whose API is measured in turns with this one's. */
const BEFORE = process.env['BENCH_BEFORE'];
const CALLERS = 16;
const MANY = 20;

/** How enterprises are called upon. */
const WAYS = ['one enterprise', 'many enterprises', 'one, Idempotency-Key'] as const;
type Way = (typeof WAYS)[number];

/** The API of one checkout. */
interface Subject {
  readonly name: string;
  readonly api: ApiAlone;
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
  const add = async (name: string, checkout: string): Promise<void> => {
    const api = await startApiAlone(servers, { checkout, enterprises: MANY });
    subjects.push({ name, api, call: callsOf(api.target, api.ruts) });
  };
  try {
    if (BEFORE) await add('before', BEFORE);
    await add(BEFORE ? 'after' : 'now', OWN);
    await measure(subjects, servers.postgresPid);
  } finally {
    for (const { api } of subjects) await api.stop();
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
      for (const {
        name,
        call,
        api: { pid },
      } of subjects) {
        const title = `${name}, ${way}`;
        const [api, database] = [processorTime(pid), processorTimeOfTree(postgres)];
        const most = await closedLoop(call[way], CALLERS, SECONDS);
        const each = (seconds: number): string => ((1_000 * seconds) / most.milliseconds.length).toFixed(1);
        const costs = `API ${each(processorTime(pid) - api)}, PostgreSQL ${each(processorTimeOfTree(postgres) - database)} ms of processor each`;
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

function callsOf(target: Target, ruts: readonly string[]): Record<Way, Call> {
  const body = JSON.stringify(aCfeBody());
  const [one = ''] = ruts;
  let turn = 0;
  const post = (rut: string, more?: Record<string, string>): Promise<void> =>
    send(target, 'POST', `/v1/enterprises/${rut}/cfes`, { body, ...(more ? { more } : {}) });
  return {
    'one enterprise': () => post(one),
    'many enterprises': () => post(ruts[(turn += 1) % ruts.length] ?? one),
    'one, Idempotency-Key': () => post(one, { 'idempotency-key': randomUUID() }),
  };
}
