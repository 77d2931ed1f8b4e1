import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openWatchdog } from '../../../local/stack/processes/watchdog.ts';
import { emptyDatabase, samePasswords } from '../../support/database/database.ts';
import { freePort } from '../../support/processes/services.ts';
import { startPostgres } from '../../support/stack/servers.ts';
import { startSimulatorProcess } from '../../support/stacks.ts';
import { startTemporalThatAgrees } from '../../support/temporal/temporalThatAgrees.ts';
import { logIn, type Target } from './load.ts';

/** This checkout. */
export const OWN = join(import.meta.dirname, '../../..');

/** A module of a checkout. */
export const fromCheckout = async <T>(checkout: string, path: string): Promise<T> =>
  (await import(pathToFileURL(join(checkout, path)).href)) as T;

/** The servers that an API needs; PostgreSQL waits for the disk at every commit. */
export interface Servers {
  readonly dataDir: string;
  readonly postgresPid: number;
  readonly temporalAddress: string;
  /** Certificates come from it; otherwise it is idle. */
  readonly simulatorUrl: string;
  stop(): Promise<void>;
}

/** Starts a PostgreSQL and a simulator in a folder that is gone afterwards, and a Temporal that agrees to everything. */
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
  const simulator = await startSimulatorProcess(dataDir);
  return {
    dataDir,
    postgresPid: postgres.mark.pid,
    temporalAddress: temporal.address,
    simulatorUrl: simulator.baseUrl,
    async stop() {
      await simulator.stop();
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

/** Prepares a database with the programs of a checkout as its local stack does, and starts its API on it. */
export async function startApiAlone(
  servers: Servers,
  { checkout = OWN, enterprises = 1 }: { checkout?: string; enterprises?: number } = {},
): Promise<ApiAlone> {
  const load = <T>(path: string): Promise<T> => fromCheckout<T>(checkout, path);
  const { migrateDatabase, prepareDatabase, LOCAL_DEVELOPER } = await load<
    typeof import('../../../local/stack/prepareStack.ts')
  >('local/stack/prepareStack.ts');
  const { openSecrets } =
    await load<typeof import('../../../local/stack/secrets.ts')>('local/stack/secrets.ts');
  const { openOrm } = await load<typeof import('../../../src/db/orm.ts')>('src/db/orm.ts');
  const { aReadyEnterprise, giveCae } = await load<typeof import('../../support/enterprises/enterprises.ts')>(
    'test/support/enterprises/enterprises.ts',
  );
  const { startBeside } = await load<typeof import('../../support/stacks.ts')>('test/support/stacks.ts');

  const { simulatorUrl, temporalAddress } = servers;
  const database = await emptyDatabase();
  const { databaseUrl } = database;
  const dataDir = mkdtempSync(join(servers.dataDir, 'api-'));
  const { secrets, made } = openSecrets(dataDir);
  await migrateDatabase({ databaseUrl, rolePasswords: samePasswords(databaseUrl) });
  const { live_api_key: apiKey } = await prepareDatabase({
    dataDir,
    databaseUrl,
    secrets,
    secretsAreNew: made,
    simulatorUrl,
  });
  const orm = await openOrm({ databaseUrl, pool: 2 });
  const ruts: string[] = [];
  for (let i = 0; i < enterprises; i += 1) {
    const rut = await aReadyEnterprise(orm, LOCAL_DEVELOPER, { caes: [{ serie: 'Z', to: 9_999_999 }] });
    await giveCae(orm, rut, { serie: 'Y', to: 9_999_999 });
    ruts.push(rut);
  }
  await orm.em.fork().execute(WITHOUT_LIMIT);
  await orm.close(true);

  const surroundings = {
    dataDir,
    info: () => ({
      database_url: databaseUrl,
      temporal_address: temporalAddress,
      temporal_namespace: 'default',
      simulator_url: simulatorUrl,
      smtp_url: '',
    }),
  };
  const another = async () => {
    const api = await startBeside(surroundings, 'api', { CFE_LOG_LEVEL: 'warn' });
    const target = await logIn(Number(new URL(api.baseUrl).port), apiKey);
    const stop = async (): Promise<void> => {
      target.agent.destroy();
      await api.stop();
    };
    return { pid: api.child.pid ?? 0, target, stop };
  };
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

/** The rate limits of the local developer would end a bench early. */
export const WITHOUT_LIMIT = 'update rate_limit set per_hour = 100000000';
