import { setTimeout as pause } from 'node:timers/promises';
import { createAccount, setRateLimit } from '../../../src/commands/people/accounts.ts';
import { createApiKey } from '../../../src/commands/people/apiKeys.ts';
import { readConfig } from '../../../src/config.ts';
import { createApiKeys } from '../../../src/crypto/apiKeys.ts';
import { idleOutbox } from '../commandDeps.ts';
import { enterpriseBody } from '../enterprises/enterprises.ts';
import { aCfeBody } from '../receipts/cfeBodies.ts';
import { aRut } from '../receipts/papers.ts';
import { type ExtraProgram, readSecrets, startBeside, type TestStack } from '../stacks.ts';
import { PATIENCE } from '../until.ts';
import { createHttpClient, type HttpClient } from './http.ts';

/** What attacks happen on: an API process of its own beside the stack's. */
export interface Ground {
  readonly api: ExtraProgram;
  readonly stack: TestStack;
  /** The customer who must not notice: READY, with numbers for e-Tickets. */
  readonly victim: Account;
  /** Owns an enterprise that has nothing yet. */
  readonly attacker: Account;
  /** One more account like the attacker's, of another owner. */
  anAccount: () => Promise<Account>;
  close(): Promise<unknown>;
}

/** An account with a key and a token at the process under attack. */
export interface Account {
  readonly client: HttpClient;
  readonly headers: Readonly<Record<string, string>>;
  /** Of its enterprise. */
  readonly rut: string;
}

/** Something that one caller does to hurt the others. */
export interface Attack {
  readonly name: string;
  /** How many requests, and how many at a time; 12 and 3 unless told. */
  readonly times?: number;
  readonly atOnce?: number;
  /** Done before the clock runs: whatever takes this process long would look as if the API were slow. */
  prepare?(ground: Ground): Promise<void>;
  /** Sends the request of that place in the attack (0, 1, …); its status. */
  send(ground: Ground, place: number): Promise<number>;
  /** The statuses that the attacker gets, in ascending order, each at least once. */
  readonly answers: readonly number[];
  /** What another is served besides while it runs (0, 1, …): its status is 200, and its time nobody's matter. */
  probe?(ground: Ground, place: number): Promise<number>;
}

/** How the others fared during an attack. */
export interface Fared {
  /** Status of each request of the attack. */
  readonly statuses: readonly number[];
  readonly probes: readonly Probe[];
  /** That of the machine. */
  readonly slowness: number;
}

/** A call of another: it reads, issues a receipt, or asks what the attack's `probe` does. */
interface Probe {
  readonly kind: ProbeKind;
  readonly status: number;
  readonly milliseconds: number;
  /** Begun while the attack was in progress. */
  readonly isDuring: boolean;
}
type ProbeKind = 'GET' | 'POST' | 'probe';

/**
 * Nobody waits longer while an attack runs, where nothing else wants the cores: for what is read, and for a receipt. This
 * suite alone asserts time, since that is what it is about. It must not fail where the machine is busy with something else:
 * the limit holds for the median of what is read while the attack runs, PATIENCE times the limit for the longest of all
 * calls, and both are longer as far as the machine is slower without the attack.
 */
const MOST_MILLISECONDS = { GET: 300, POST: 1_000 } as const;
const PROBES_AT_LEAST = 6;
/** The first of them count for the median also where the attack was over before them. */
const READS_AT_LEAST = 3;
/** Some work, and how long it takes where nobody else wants the cores: on the machine on which the limits were found to hold. */
const SAMPLE = { turns: 10_000_000, milliseconds: 60 } as const;
/** Those before and after an attack, and the attack before it: one by itself may fall into a pause of whoever keeps the machine busy. */
const SAMPLES = 4;
const samples: number[] = [];

/** A key of a new account of that stack, which may make so many requests an hour. */
export async function aKeyWithLimit(stack: TestStack, perHour: number): Promise<string> {
  const secrets = readSecrets(stack.dataDir);
  const deps = { orm: stack.orm, clock: () => new Date(), outbox: idleOutbox };
  const { id } = await createAccount(deps, { name: 'L', email: 'l@example.com', isDeveloper: false });
  await setRateLimit(deps, { accountId: id, environment: 'production', perHour });
  const apiKeys = createApiKeys(readConfig(['CFE_PEPPER'], { CFE_PEPPER: secrets.pepper }).CFE_PEPPER);
  return (await createApiKey({ ...deps, apiKeys }, { accountId: id, environment: 'production' })).text;
}

/** Starts an API process beside `stack`, with a victim and an attacker. */
export async function openGround(
  stack: TestStack,
  environment: Record<string, string> = {},
): Promise<Ground> {
  const api = await startBeside(stack, 'api', environment);
  const logIn = async (apiKey: string, rut: string): Promise<Account> => {
    const key = { 'x-api-key': apiKey };
    const { data } = await createHttpClient(api.baseUrl, key).post<{ access_token: string }>('/tokens', {});
    const headers = { ...key, authorization: `Bearer ${data.access_token}` };
    return { client: createHttpClient(api.baseUrl, headers), headers, rut };
  };
  const anAccount = async (): Promise<Account> => {
    const account = await logIn(await aKeyWithLimit(stack, 100_000), aRut());
    await account.client.post('/enterprises', enterpriseBody(account.rut));
    return account;
  };
  const victim = await logIn(stack.info().live_api_key, await stack.onboard([101], aRut()));
  return { api, stack, victim, attacker: await anAccount(), anAccount, close: () => api.stop() };
}

/**
 * How many times longer something takes at the moment than on an idle machine. It is told by work of this process, while no attack
 * is in progress, and not by asking a service: what an attack does to that is not to make its limit longer.
 */
export function slowness(): number {
  const begun = performance.now();
  work(SAMPLE.turns);
  samples.push((performance.now() - begun) / SAMPLE.milliseconds);
  return Math.max(1, ...samples.slice(-SAMPLES));
}

/** With nothing of the globals, which Jest makes slow. */
function work(turns: number): number {
  let sum = 0;
  for (let turn = 0; turn < turns; turn += 1) sum = (sum * 31 + turn) % 1_000_003;
  return sum;
}

/** Runs an attack while the victim reads its enterprise and issues e-Tickets, one call after the other. */
export async function underAttack(ground: Ground, attack: Attack): Promise<Fared> {
  const { times = 12, atOnce = 3 } = attack;
  const probes: Probe[] = [];
  const kinds: readonly ProbeKind[] = attack.probe ? ['GET', 'POST', 'probe'] : ['GET', 'POST'];
  const run = { isOver: false };
  const probing = async (): Promise<void> => {
    while (!run.isOver || probes.length < PROBES_AT_LEAST) {
      const kind = kinds[probes.length % kinds.length] ?? 'GET';
      const place = Math.floor(probes.length / kinds.length);
      const isDuring = !run.isOver;
      const begun = performance.now();
      const status =
        kind === 'probe' ? ((await attack.probe?.(ground, place)) ?? 0) : await statusOf(ground.victim, kind);
      probes.push({ kind, status, milliseconds: performance.now() - begun, isDuring });
      await pause(50);
    }
  };
  const statuses: number[] = [];
  let next = 0;
  const attacking = async (): Promise<void> => {
    for (let place = next++; place < times; place = next++) statuses.push(await attack.send(ground, place));
  };
  await attack.prepare?.(ground);
  slowness();
  const probed = probing();
  await Promise.all(Array.from({ length: atOnce }, attacking)).finally(() => {
    run.isOver = true;
  });
  await probed;
  // All that it asked has been answered: what keeps the cores busy now is not the attack.
  return { statuses, probes, slowness: slowness() };
}

const statusOf = async ({ client, rut }: Account, kind: 'GET' | 'POST'): Promise<number> =>
  (kind === 'GET'
    ? await client.get(`/enterprises/${rut}`)
    : await client.post(`/enterprises/${rut}/cfes`, aCfeBody())
  ).status;

/** The longest that the others waited for what is read, or for a receipt, in whole milliseconds. */
export const worstOf = ({ probes }: Fared, kind: ProbeKind): number =>
  Math.ceil(Math.max(...probes.filter((one) => one.kind === kind).map(({ milliseconds }) => milliseconds)));

/** How long the others waited for what is read, in the middle, in whole milliseconds. */
export const medianOf = ({ probes }: Fared): number => {
  const reads = probes.filter(({ kind }) => kind === 'GET');
  const counted = reads.filter(({ isDuring }, place) => isDuring || place < READS_AT_LEAST);
  return Math.ceil(median(counted.map(({ milliseconds }) => milliseconds)));
};

export const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;

/** How long others may wait on a machine that is so slow: in the middle, and at the most. */
export function limitsOf(
  slowness: number,
  kind: keyof typeof MOST_MILLISECONDS,
): { median: number; worst: number } {
  const limit = MOST_MILLISECONDS[kind] * slowness;
  return { median: limit, worst: PATIENCE * limit };
}
