import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createAccount } from '../../src/commands/createAccount.ts';
import { createApiKey } from '../../src/commands/createApiKey.ts';
import { setRateLimit } from '../../src/commands/setRateLimit.ts';
import { createApiKeys } from '../../src/crypto/apiKeys.ts';
import type { StackSecrets } from '../../src/stack/secrets.ts';
import { aCfeBody } from './cfeBodies.ts';
import { idleOutbox } from './commandDeps.ts';
import { enterpriseBody } from './enterprises.ts';
import { createHttpClient, type HttpClient } from './http.ts';
import { aRut } from './papers.ts';
import { type ExtraProgram, startBeside, type TestStack } from './stacks.ts';
import { PATIENCE } from './until.ts';

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
}

/** How the others fared during an attack. */
export interface Fared {
  /** Status of each request of the attack. */
  readonly statuses: readonly number[];
  readonly probes: readonly { readonly status: number; readonly milliseconds: number }[];
}

/** Nobody waits longer for an answer while an attack runs. On a quiet machine it is 0.3 s at the most. */
export const MOST_MILLISECONDS = 1_000 * PATIENCE;
const PROBES_AT_LEAST = 4;

/** A key of a new account of that stack, which may make so many requests an hour. */
export async function aKeyWithLimit(stack: TestStack, perHour: number): Promise<string> {
  const secrets = JSON.parse(readFileSync(join(stack.dataDir, 'secrets.json'), 'utf8')) as StackSecrets;
  const deps = { orm: stack.orm, clock: () => new Date(), outbox: idleOutbox };
  const { id } = await createAccount(deps, { name: 'L', email: 'l@example.com', isDeveloper: false });
  await setRateLimit(deps, { accountId: id, environment: 'production', perHour });
  const apiKeys = createApiKeys(Buffer.from(secrets.pepper, 'base64'));
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

/** Runs an attack while the victim reads its enterprise and issues e-Tickets, one call after the other. */
export async function underAttack(ground: Ground, attack: Attack): Promise<Fared> {
  const { times = 12, atOnce = 3 } = attack;
  const probes: { status: number; milliseconds: number }[] = [];
  const run = { isOver: false };
  const probing = async (): Promise<void> => {
    while (!run.isOver || probes.length < PROBES_AT_LEAST) {
      const begun = performance.now();
      const { status } = await callOf(ground.victim, probes.length);
      probes.push({ status, milliseconds: performance.now() - begun });
      await pause(50);
    }
  };
  const statuses: number[] = [];
  let next = 0;
  const attacking = async (): Promise<void> => {
    for (let place = next++; place < times; place = next++) statuses.push(await attack.send(ground, place));
  };
  await attack.prepare?.(ground);
  const probed = probing();
  await Promise.all(Array.from({ length: atOnce }, attacking)).finally(() => {
    run.isOver = true;
  });
  await probed;
  return { statuses, probes };
}

const callOf = ({ client, rut }: Account, place: number) =>
  place % 2 === 0 ? client.get(`/enterprises/${rut}`) : client.post(`/enterprises/${rut}/cfes`, aCfeBody());

/** The longest that the others waited, in whole milliseconds. */
export const worstOf = ({ probes }: Fared): number =>
  Math.ceil(Math.max(...probes.map(({ milliseconds }) => milliseconds)));
