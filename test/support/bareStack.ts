import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import got from 'got';
import { addWebhook } from '../../src/commands/addWebhook.ts';
import { readConfig } from '../../src/config.ts';
import { createSealer } from '../../src/crypto/sealed.ts';
import { type Orm, openOrm } from '../../src/db/orm.ts';
import { logIn } from '../../src/demo/customer.ts';
import { onboard } from '../../src/demo/onboarding.ts';
import { LOCAL_DEVELOPER, prepareDatabase } from '../../src/main/prepare.ts';
import { openSecrets } from '../../src/stack/secrets.ts';
import { type ExtraProcess, type Surroundings, startBeside } from './extraProcess.ts';
import { createHttpClient, type HttpClient } from './http.ts';
import { aRut } from './papers.ts';
import type { LedgerRow } from './runningStack.ts';
import { webhookDeps } from './webhooks/deliveries.ts';

/** What a bare stack stands on; the test brings it up and ends it. */
interface Ground {
  /** Of an empty or a migrated database. */
  databaseUrl: string;
  temporalAddress: string;
  namespace: string;
  simulatorUrl: string;
  /** Authority of the certificates that receivers of webhooks may show. */
  caPem: string;
}

/** A service without a supervisor: its programs are started and killed by the test, one by one. */
export interface BareStack extends Surroundings {
  [Symbol.asyncDispose](): Promise<void>;
  orm: Orm;
  /** Of its one enterprise. */
  rut: string;
  start(program: 'worker' | 'api', environment?: Record<string, string>): Promise<ExtraProcess>;
  /** The customer of the local stack, at the API of that address. */
  clientAt(baseUrl: string): HttpClient;
  /** Takes the enterprise to READY, with CAEs of these types; needs an API, at `baseUrl`, and a worker. */
  onboard(baseUrl: string, typeCodes: readonly number[]): Promise<void>;
  /** Tells a receiver of `cfe.updated` from now on. */
  tell(url: string): Promise<void>;
  ledger(): Promise<LedgerRow[]>;
}

/** Prepares database, secrets and account as the local stack does; starts no program. */
export async function openBareStack(ground: Ground): Promise<BareStack> {
  const { databaseUrl, simulatorUrl } = ground;
  const dataDir = mkdtempSync(join(tmpdir(), 'cfe-bare-'));
  mkdirSync(join(dataDir, 'logs'));
  writeFileSync(join(dataDir, 'ca.pem'), ground.caPem);
  const { secrets, made } = openSecrets(dataDir);
  const keys = await prepareDatabase({ dataDir, databaseUrl, secrets, secretsAreNew: made, simulatorUrl });
  const orm = await openOrm({ databaseUrl, pool: 4 });
  const rut = aRut();
  let headers: Record<string, string> = { 'x-api-key': keys.live_api_key };
  const { CFE_KEY_ENCRYPTION_KEYS: kek } = readConfig(['CFE_KEY_ENCRYPTION_KEYS'], {
    CFE_KEY_ENCRYPTION_KEYS: secrets.key_encryption_keys,
  });

  const stack: BareStack = {
    dataDir,
    orm,
    rut,
    info: () => ({
      database_url: databaseUrl,
      temporal_address: ground.temporalAddress,
      temporal_namespace: ground.namespace,
      simulator_url: simulatorUrl,
    }),
    start: (program, environment) => startBeside(stack, program, environment),
    clientAt: (baseUrl) => createHttpClient(baseUrl, headers),
    async onboard(baseUrl, typeCodes) {
      const { data } = await createHttpClient(baseUrl, headers).post<{ access_token: string }>('/tokens', {});
      headers = { ...headers, authorization: `Bearer ${data.access_token}` };
      const customer = await logIn(baseUrl, keys.live_api_key);
      await onboard(customer, simulatorUrl, typeCodes, () => {}, undefined, rut);
    },
    async tell(url) {
      const deps = webhookDeps(orm, { sealer: createSealer(kek) });
      await addWebhook(deps, { accountId: LOCAL_DEVELOPER, url, events: ['cfe.updated'] });
    },
    async ledger() {
      const { items } = await got
        .get(`${simulatorUrl}/portal/ledger`, { searchParams: { rut } })
        .json<{ items: LedgerRow[] }>();
      return items;
    },
    async [Symbol.asyncDispose]() {
      await orm.close(true);
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
  return stack;
}
