import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import got from 'got';
import { createApiKey } from '../../src/commands/createApiKey.ts';
import { createApiKeys } from '../../src/crypto/apiKeys.ts';
import type { Orm } from '../../src/db/orm.ts';
import { aCfeBody } from '../support/cfeBodies.ts';
import { anAccount, idleOutbox } from '../support/commandDeps.ts';
import { cloneDatabase } from '../support/database.ts';
import { aReadyEnterprise, giveCae } from '../support/enterprises.ts';
import { aKeyPair } from '../support/sealing.ts';
import { freePort, startServices } from '../support/services.ts';
import { type ExtraProgram, startProgram } from '../support/stacks.ts';

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 15);
const MEMORY_SECONDS = Number(process.env['BENCH_MEMORY_SECONDS'] ?? 300);
const ROWS = Number(process.env['BENCH_ROWS'] ?? 1_000_000);
const CONNECTIONS = 16;

interface Target {
  agent: Agent;
  port: number;
  headers: Record<string, string>;
}

/**
 * POST, list and read of CFEs against one API process and one PostgreSQL on this machine, at half and at full load,
 * on an empty table and on one with a million CFEs. No worker runs, so that the figures are the API's own: workflows
 * are started at Temporal, and nobody carries them out.
 */
export async function run(): Promise<void> {
  const services = await startServices({ say: console.log });
  Object.assign(process.env, services.environment);
  const database = await cloneDatabase();
  try {
    const secrets = { pepper: randomBytes(32) };
    const { orm } = database;
    const accountId = await anAccount(orm);
    const rut = await aReadyEnterprise(orm, accountId);
    await giveCae(orm, rut, { serie: 'Z', to: 9_999_999 });
    await liftLimit(orm, accountId);
    const { text: apiKey } = await createApiKey(
      { orm, outbox: idleOutbox, clock: () => new Date(), apiKeys: createApiKeys(secrets.pepper) },
      { accountId, environment: 'production' },
    );
    const api = await startApi(database.databaseUrl, secrets);
    try {
      const target = await logIn(Number(new URL(api.baseUrl).port), apiKey);
      await measure('empty table', target, rut);
      console.log(`loading ${ROWS.toLocaleString('en')} CFEs …`);
      await load(database.orm, rut);
      await measure(`${ROWS.toLocaleString('en')} CFEs`, target, rut);
      await memory(api.child.pid ?? 0, target, rut);
    } finally {
      await api.stop();
    }
  } finally {
    await database[Symbol.asyncDispose]();
    await services.stop();
  }
}

async function measure(title: string, target: Target, rut: string): Promise<void> {
  const path = `/v1/enterprises/${rut}/cfes`;
  const calls: [string, () => Promise<void>][] = [
    ['POST', () => send(target, 'POST', path, JSON.stringify(aCfeBody()))],
    ['list', () => send(target, 'GET', `${path}?limit=25`)],
    ['read', () => send(target, 'GET', `${path}/101-1`)],
  ];
  console.log(`\n${title}`);
  for (const [name, call] of calls) {
    const full = await closedLoop(call, SECONDS);
    report(`${name}, full load`, full);
    report(`${name}, half load`, await openLoop(call, full.perSecond / 2, SECONDS));
  }
}

interface Timings {
  perSecond: number;
  milliseconds: number[];
}

/** The hourly limit would end the bench within a second. */
async function liftLimit(orm: Orm, accountId: string): Promise<void> {
  await orm.em
    .fork()
    .execute(
      `insert into rate_limit (account_id, environment, per_hour) values (?, 'production', 100000000)`,
      [accountId],
    );
}

/** As many calls as CONNECTIONS callers can make one after the other. */
async function closedLoop(call: () => Promise<void>, seconds: number): Promise<Timings> {
  const milliseconds: number[] = [];
  const deadline = performance.now() + seconds * 1_000;
  const started = performance.now();
  const caller = async (): Promise<void> => {
    while (performance.now() < deadline) {
      const at = performance.now();
      await call();
      milliseconds.push(performance.now() - at);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, caller));
  return { perSecond: milliseconds.length / ((performance.now() - started) / 1_000), milliseconds };
}

/** Calls at a steady rate, whatever the answers take; a late answer counts from when it was due. */
async function openLoop(call: () => Promise<void>, perSecond: number, seconds: number): Promise<Timings> {
  const milliseconds: number[] = [];
  const started = performance.now();
  const running: Promise<void>[] = [];
  const total = Math.floor(perSecond * seconds);
  for (let i = 0; i < total; i++) {
    const due = started + (i / perSecond) * 1_000;
    const wait = due - performance.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    running.push(call().then(() => void milliseconds.push(performance.now() - due)));
  }
  await Promise.all(running);
  return { perSecond: milliseconds.length / ((performance.now() - started) / 1_000), milliseconds };
}

function report(title: string, { perSecond, milliseconds }: Timings): void {
  const sorted = milliseconds.toSorted((a, b) => a - b);
  const at = (share: number): string =>
    (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(1).padStart(7);
  console.log(
    `${title.padEnd(18)} ${perSecond.toFixed(0).padStart(6)} /s   p50 ${at(0.5)}  p95 ${at(0.95)}  p99 ${at(0.99)} ms`,
  );
}

/** Resident memory of the API while it serves all three for some minutes. */
async function memory(pid: number, target: Target, rut: string): Promise<void> {
  const path = `/v1/enterprises/${rut}/cfes`;
  const body = JSON.stringify(aCfeBody());
  const samples: number[] = [];
  const sample = setInterval(() => {
    const pages = Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]);
    samples.push((pages * 4_096) / 1e6);
  }, 5_000);
  let turn = 0;
  const call = (): Promise<void> => {
    turn += 1;
    if (turn % 3 === 0) return send(target, 'POST', path, body);
    return send(target, 'GET', turn % 3 === 1 ? `${path}?limit=25` : `${path}/101-1`);
  };
  await closedLoop(call, MEMORY_SECONDS);
  clearInterval(sample);
  const tenth = Math.max(1, Math.floor(samples.length / 10));
  const mean = (part: number[]): string => (part.reduce((a, b) => a + b, 0) / part.length).toFixed(0);
  console.log(
    `\nmemory over ${MEMORY_SECONDS} s: ${mean(samples.slice(tenth, 2 * tenth))} MB at the beginning, ${mean(samples.slice(-tenth))} MB at the end`,
  );
}

async function startApi(databaseUrl: string, secrets: { pepper: Buffer }): Promise<ExtraProgram> {
  const [port, health] = [await freePort(), await freePort()];
  const { privateKey } = generateKeyPairSync('ed25519');
  return startProgram('api', {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    healthUrl: `http://127.0.0.1:${health}`,
    sign: '/readyz',
    environment: {
      PATH: process.env['PATH'],
      DATABASE_URL: databaseUrl,
      TEMPORAL_ADDRESS: process.env['TEMPORAL_ADDRESS'],
      CFE_API_PORT: String(port),
      CFE_METRICS_PORT: String(health),
      CFE_LOG_LEVEL: 'warn',
      CFE_SEALING_KEY: aKeyPair('bench').publicText,
      CFE_PEPPER: secrets.pepper.toString('base64'),
      CFE_TOKEN_KEYS: JSON.stringify([{ ...privateKey.export({ format: 'jwk' }), kid: 'bench' }]),
    },
  });
}

async function logIn(port: number, apiKey: string): Promise<Target> {
  const { data } = await got
    .post(`http://127.0.0.1:${port}/v1/tokens`, { json: {}, headers: { 'x-api-key': apiKey } })
    .json<{ data: { access_token: string } }>();
  return {
    port,
    agent: new Agent({ keepAlive: true, maxSockets: 256 }),
    headers: {
      'x-api-key': apiKey,
      authorization: `Bearer ${data.access_token}`,
      'content-type': 'application/json',
    },
  };
}

function send({ agent, port, headers }: Target, method: string, path: string, body?: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = request({ agent, port, host: '127.0.0.1', method, path, headers }, (answer) => {
      answer.resume();
      answer.once('end', () =>
        (answer.statusCode ?? 500) < 300
          ? resolve()
          : reject(new Error(`${method} answered ${answer.statusCode}`)),
      );
    });
    sent.once('error', reject);
    sent.end(body);
  });
}

/** Copies the first CFE until the table holds ROWS, under numbers of their own; the CAE is past them afterwards. */
async function load(orm: Orm, rut: string): Promise<void> {
  const em = orm.em.fork();
  await em.execute(
    `insert into cfe (${COLUMNS}) select gen_random_uuid(), account_id, rut, environment, type, s.last + n, cae_id, 'B', n,
       status, emission_date, currency, pay_amount, document, certificate_id, created_at - n * interval '1 second'
     from cfe join cfe_sequence s using (rut, environment, type), generate_series(1, ?) n
     where cfe.rut = ? and sequence = 1`,
    [ROWS, rut],
  );
  await em.execute('update cfe_sequence set last = last + ? where rut = ?', [ROWS, rut]);
  await em.execute('vacuum analyze cfe');
}

const COLUMNS =
  'id, account_id, rut, environment, type, sequence, cae_id, serie, numero, status, emission_date, currency, pay_amount, document, certificate_id, created_at';
