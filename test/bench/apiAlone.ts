import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openWatchdog } from '../../local/stack/watchdog.ts';
import type { Pepper } from '../../src/crypto/peppers.ts';
import { idleOutbox } from '../support/commandDeps.ts';
import { emptyDatabase } from '../support/database.ts';
import { aPepper, pepperVariable } from '../support/pepper.ts';
import { ready, start, statusOf } from '../support/processes.ts';
import { aKeyPair } from '../support/sealing.ts';
import { freePort } from '../support/services.ts';
import { startPostgres } from '../support/stack/servers.ts';
import { startTemporalThatAgrees } from '../support/temporalThatAgrees.ts';
import { logIn, type Target } from './load.ts';

/** This checkout. */
export const OWN = join(import.meta.dirname, '../..');

/** The servers that an API needs; PostgreSQL waits for the disk at every commit. */
export interface Servers {
  readonly postgresPid: number;
  readonly temporalAddress: string;
  stop(): Promise<void>;
}

/** Starts a PostgreSQL in a folder that is gone afterwards, and a Temporal that agrees to everything. */
export async function startServers(): Promise<Servers> {
  const dataDir = mkdtempSync(join(tmpdir(), 'cfe-bench-'));
  const watchdog = openWatchdog();
  const password = randomBytes(18).toString('hex');
  const postgres = await startPostgres({
    dataDir,
    port: await freePort(),
    password,
    say: console.log,
    watchdog,
  });
  process.env['CFE_TEST_POSTGRES_URL'] = postgres.databaseUrl;
  const temporal = await startTemporalThatAgrees();
  return {
    postgresPid: postgres.mark.pid,
    temporalAddress: temporal.address,
    async stop() {
      await temporal.stop();
      await postgres.stop();
      watchdog.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** An API with a database of its own, and a customer of it. */
export interface ApiAlone {
  readonly pid: number;
  readonly databaseUrl: string;
  readonly target: Target;
  /** Enterprises of the customer, READY, with CAEs for e-Tickets that do not run out. */
  readonly ruts: readonly string[];
  /** One more API on the same database, with the same customer. */
  another(): Promise<Pick<ApiAlone, 'pid' | 'target' | 'stop'>>;
  stop(): Promise<void>;
}

/** Prepares a database with the programs of a checkout, and starts its API on it. */
export async function startApiAlone(
  { temporalAddress }: Servers,
  { checkout = OWN, enterprises = 1 }: { checkout?: string; enterprises?: number } = {},
): Promise<ApiAlone> {
  const load = async <T>(path: string): Promise<T> =>
    (await import(pathToFileURL(join(checkout, path)).href)) as T;
  const { openOrm, migrate } = await load<typeof import('../../src/db/orm.ts')>('src/db/orm.ts');
  const { aReadyEnterprise, giveCae } = await load<typeof import('../support/enterprises.ts')>(
    'test/support/enterprises.ts',
  );
  const { anAccount } = await load<typeof import('../support/commandDeps.ts')>('test/support/commandDeps.ts');
  const { createApiKeys } = await load<typeof import('../../src/crypto/apiKeys.ts')>('src/crypto/apiKeys.ts');
  const { createApiKey } =
    await load<typeof import('../../src/commands/apiKeys.ts')>('src/commands/apiKeys.ts');

  const database = await emptyDatabase();
  const { databaseUrl } = database;
  const orm = await openOrm({ databaseUrl, pool: 2 });
  await migrate(orm);
  const accountId = await anAccount(orm);
  const ruts: string[] = [];
  for (let i = 0; i < enterprises; i += 1) {
    const rut = await aReadyEnterprise(orm, accountId, { caes: [{ serie: 'Z', to: 9_999_999 }] });
    await giveCae(orm, rut, { serie: 'Y', to: 9_999_999 });
    ruts.push(rut);
  }
  // The hourly limit would end the bench within a second.
  const limit = `insert into rate_limit (account_id, environment, per_hour) values (?, 'production', 100000000)`;
  await orm.em.fork().execute(limit, [accountId]);
  const pepper = aPepper();
  const deps = { orm, outbox: idleOutbox, clock: () => new Date(), apiKeys: createApiKeys([pepper]) };
  const { text: apiKey } = await createApiKey(deps, { accountId, environment: 'production' });
  await orm.close(true);

  const variables = { ...secretsOf(pepper), DATABASE_URL: databaseUrl, TEMPORAL_ADDRESS: temporalAddress };
  const another = () => startApi(checkout, variables, apiKey);
  const api = await another();
  return {
    ...api,
    databaseUrl,
    ruts,
    another,
    async stop() {
      await api.stop();
      await database[Symbol.asyncDispose]();
    },
  };
}

async function startApi(
  checkout: string,
  variables: NodeJS.ProcessEnv,
  apiKey: string,
): Promise<Pick<ApiAlone, 'pid' | 'target' | 'stop'>> {
  const [port, health] = [await freePort(), await freePort()];
  const env = { ...variables, CFE_API_PORT: String(port), CFE_METRICS_PORT: String(health) };
  const api = start(['src/main/api.ts'], { cwd: checkout, env });
  const isReady = async () => (await statusOf(`http://127.0.0.1:${health}/readyz`)) === 200;
  await ready(api, `the API of ${checkout}`, isReady);
  const target = await logIn(port, apiKey);
  const stop = async (): Promise<void> => {
    target.agent.destroy();
    await api.stop();
  };
  return { pid: api.child.pid ?? 0, target, stop };
}

function secretsOf(pepper: Pepper): NodeJS.ProcessEnv {
  const { privateKey } = generateKeyPairSync('ed25519');
  return {
    PATH: process.env['PATH'],
    CFE_LOG_LEVEL: 'warn',
    CFE_CERTIFICATE_CA_FILE: 'any',
    CFE_SEALING_KEY: aKeyPair('bench').publicText,
    // What checkouts from before the sealing key want in its place.
    CFE_KEY_ENCRYPTION_KEYS: `bench:${randomBytes(32).toString('base64')}`,
    CFE_PEPPER: pepperVariable(pepper),
    CFE_TOKEN_KEYS: JSON.stringify([{ ...privateKey.export({ format: 'jwk' }), kid: 'bench' }]),
  };
}
