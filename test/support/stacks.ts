/** The service as tests, benchmarks and drills start it: whole, or program by program. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import got from 'got';
import { type CfeView, type Customer, logIn, verdictOf as verdictWithin } from '../../local/demo/customer.ts';
import { DEMO_RUT, onboard } from '../../local/demo/onboarding.ts';
import { PORTS } from '../../local/stack/localStack.ts';
import { LOCAL_DEVELOPER, migrateDatabase, prepareDatabase } from '../../local/stack/prepareStack.ts';
import { programVariables } from '../../local/stack/programs.ts';
import { openSecrets, type StackSecrets } from '../../local/stack/secrets.ts';
import type { StackInfo } from '../../local/stack/stackFile.ts';
import type { DatabaseLogin } from '../../local/stack/stackOptions.ts';
import { addWebhook } from '../../src/commands/webhooks/webhooks.ts';
import { readConfig } from '../../src/config.ts';
import { sealingKeyFor } from '../../src/crypto/newSecrets.mjs';
import { createSealer } from '../../src/crypto/sealed.ts';
import { type Orm, openOrm } from '../../src/db/orm.ts';
import { databaseRoleOf } from '../../src/db/rights.ts';
import { createHttpClient, type HttpClient } from './api/http.ts';
import { type Cli, cliOn } from './cli.ts';
import { cloneDatabase, samePasswords } from './database/database.ts';
import { inherited, type Program, ready, start, statusOf } from './processes/processes.ts';
import { freePort } from './processes/services.ts';
import { aCfeBody } from './receipts/cfeBodies.ts';
import { aRut } from './receipts/papers.ts';
import { newNamespace } from './temporal/namespace.ts';
import { PATIENCE } from './until.ts';
import { webhookDeps } from './webhooks/deliveries.ts';

/** What the authority's ledger holds of a CFE. */
export interface LedgerRow {
  rut: string;
  cfe_type_code: string;
  serie: string;
  numero: number;
  verdict: 'AE' | 'BE' | 'CE' | null;
  times_received: number;
  received_at: string;
  sha256: string;
}

/** The simulator's ledger, or the part of it that was asked for. */
export async function ledgerOf(
  simulatorUrl: string,
  searchParams: { rut?: string; environment?: string } = {},
): Promise<LedgerRow[]> {
  const { items } = await got
    .get(`${simulatorUrl}/portal/ledger`, { searchParams })
    .json<{ items: LedgerRow[] }>();
  return items;
}

/** Issues an e-Ticket; `itemName` may hold a directive for the simulator. */
export const issue = (customer: Customer, rut: string, itemName?: string): Promise<CfeView> =>
  customer.send('POST', `enterprises/${rut}/cfes`, aCfeBody(itemName === undefined ? {} : { itemName }));

/** The CFE once it has its verdict. */
export const verdictOf = (customer: Customer, rut: string, cfeId: string): Promise<CfeView> =>
  verdictWithin(customer, rut, cfeId, 120 * PATIENCE);

/** What a program has to find: the parts of a running stack, or what a test has brought up by itself. */
export interface Surroundings {
  /** With `secrets.json` and `ca.pem`. */
  dataDir: string;
  info: () => Pick<
    StackInfo,
    'database_url' | 'temporal_address' | 'temporal_namespace' | 'simulator_url' | 'smtp_url'
  >;
}

/** How the database of a stack is reached by who logs in. On a server of a test run all roles have one password. */
export function databaseUrlAs({ dataDir, info }: Surroundings, login: DatabaseLogin): string {
  const { database_password, role_passwords } = readSecrets(dataDir);
  const url = new URL(info().database_url);
  const isOwn = url.password === role_passwords.operator;
  url.username = login === 'owner' ? 'cfe' : databaseRoleOf(login);
  if (isOwn) url.password = login === 'owner' ? database_password : role_passwords[login];
  return url.href;
}

/** What the stack of a data folder keeps secret. */
export const readSecrets = (dataDir: string): StackSecrets =>
  JSON.parse(readFileSync(join(dataDir, 'secrets.json'), 'utf8')) as StackSecrets;

/** The whole service, under its supervisor. */
export interface TestStack extends Surroundings {
  /** What stack.json says now. */
  info: () => StackInfo;
  /** A customer with the stack's live key. */
  customer: Customer;
  /** Its command line. */
  cli: Cli;
  /** On its database. */
  orm: Orm;
  /** Takes an enterprise, the demo's unless told, to READY with CAEs of these types; its RUT. */
  onboard: (typeCodes: readonly number[], rut?: string) => Promise<string>;
  /** The simulator's ledger of a RUT. */
  ledger(rut: string): Promise<LedgerRow[]>;
  stop(): Promise<void>;
}

/** A free port for each part of a stack. */
export async function freePorts(): Promise<Record<string, string>> {
  const ports: Record<string, string> = {};
  for (const [, variable] of PORTS) ports[variable] = String(await freePort());
  return ports;
}

/** The variables by which a stack finds the Temporal server of CFE_TEST_STACK_TEMPORAL; none where that is not set. */
export async function temporalElsewhere(): Promise<Record<string, string>> {
  const address = process.env['CFE_TEST_STACK_TEMPORAL'];
  return address ? { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: await newNamespace(address) } : {};
}

/** A database and a namespace of the caller's own on the servers of the test run. */
async function sharedServers() {
  const database = await cloneDatabase({ pool: 3 });
  const address = process.env['TEMPORAL_ADDRESS'] ?? '';
  return {
    database,
    variables: {
      DATABASE_URL: database.ownerUrl,
      TEMPORAL_ADDRESS: address,
      TEMPORAL_NAMESPACE: await newNamespace(address),
    },
  };
}

/**
 * `npm start` as a process of its own, on free ports, with a data folder that is gone afterwards unless CFE_DATA_DIR
 * names one. In a test run it uses the PostgreSQL and the Temporal server of the run; with `ownServers`, and outside of
 * a test run, it has its own.
 */
export async function startTestStack(
  environment: Record<string, string> = {},
  { ownServers = !process.env['CFE_TEST_POSTGRES_URL'] } = {},
): Promise<TestStack> {
  const dataDir = environment['CFE_DATA_DIR'] ?? mkdtempSync(join(tmpdir(), 'cfe-e2e-'));
  const shared = ownServers ? undefined : await sharedServers();
  const variables = shared?.variables ?? (await temporalElsewhere());
  const { DATABASE_URL: elsewhere } = { ...variables, ...environment };
  const program = start([elsewhere ? 'test/support/stack/inRoles.ts' : 'local/main/stack.ts'], {
    env: inherited({ ...(await freePorts()), ...variables, CFE_DATA_DIR: dataDir, ...environment }),
  });
  await ready(program, 'the stack', async () => existsSync(join(dataDir, 'stack.json')));
  const stack = await joinStack(dataDir);
  return {
    ...stack,
    async stop() {
      await stack.stop();
      await program.stop();
      await shared?.database[Symbol.asyncDispose]();
      if (!environment['CFE_DATA_DIR']) rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** The running stack of a data folder; `stop` lets go of it. */
async function joinStack(dataDir: string): Promise<TestStack> {
  const info = (): StackInfo => JSON.parse(readFileSync(join(dataDir, 'stack.json'), 'utf8')) as StackInfo;
  const { base_url, live_api_key } = info();
  const customer = await logIn(base_url, live_api_key);
  const orm = await openOrm({ databaseUrl: databaseUrlAs({ dataDir, info }, 'owner'), pool: 3 });
  return {
    info,
    dataDir,
    customer,
    orm,
    cli: cliOn('', {
      DATABASE_URL: undefined,
      TEMPORAL_ADDRESS: undefined,
      CFE_PEPPER: undefined,
      CFE_DATA_DIR: dataDir,
    }),
    async onboard(typeCodes, rut = DEMO_RUT) {
      await onboard(customer, { simulatorUrl: info().simulator_url, typeCodes, rut });
      return rut;
    },
    ledger: (rut) => ledgerOf(info().simulator_url, { rut }),
    stop: () => orm.close(true),
  };
}

/** The stack that files of test/e2e share; they have enterprises of their own there, and leave its processes alone. */
export const sharedStack = (): Promise<TestStack> => joinStack(process.env['CFE_TEST_STACK'] ?? '');

/** A program of the service that a test started by itself. */
export interface ExtraProgram extends Program {
  /** Of the API, with /v1; of the simulator, without. */
  baseUrl: string;
  /** Where it tells how it is, without the path. */
  healthUrl: string;
}

/** One more worker or API beside those of a running stack, if any, on the same database and Temporal server. */
export async function startBeside(
  stack: Surroundings,
  program: 'worker' | 'api' | 'console',
  environment: Record<string, string> = {},
  /** What answers 200 once it may be used. */
  sign: '/readyz' | '/livez' = '/readyz',
): Promise<ExtraProgram> {
  const info = stack.info();
  const [port, health] = [await freePort(), await freePort()];
  const variables = programVariables(program, {
    variables: { PATH: process.env['PATH'], CFE_WORKFLOW_BUNDLE: process.env['CFE_WORKFLOW_BUNDLE'] },
    dataDir: stack.dataDir,
    secrets: readSecrets(stack.dataDir),
    ports: {
      api: port,
      metrics: health,
      workerMetrics: health,
      console: port,
      consoleMetrics: health,
      postgres: 0,
      temporal: 0,
      temporalUi: 0,
      simulator: 0,
      smtp: 0,
    },
    databaseUrl: (login) => databaseUrlAs(stack, login),
    temporalAddress: info.temporal_address,
    temporalNamespace: info.temporal_namespace,
    simulatorUrl: info.simulator_url,
    smtpUrl: info.smtp_url,
    apiUrl: `http://127.0.0.1:${port}`,
    consoleUrl: `http://127.0.0.1:${port}`,
  });
  return startProgram(program, {
    environment: { ...variables, ...environment },
    baseUrl: `http://127.0.0.1:${port}/v1`,
    healthUrl: `http://127.0.0.1:${health}`,
    sign,
  });
}

/** A simulator as a process of its own, with its data under `dataDir`. */
export async function startSimulatorProcess(dataDir: string): Promise<ExtraProgram & { smtpUrl: string }> {
  const [port, smtpPort] = [await freePort(), await freePort()];
  const url = `http://127.0.0.1:${port}`;
  const program = await startProgram('simulator', {
    environment: {
      PATH: process.env['PATH'],
      DGI_XSD_DIR: process.env['DGI_XSD_DIR'],
      CFE_DATA_DIR: dataDir,
      CFE_SIMULATOR_PORT: String(port),
      CFE_SIMULATOR_SMTP_PORT: String(smtpPort),
    },
    baseUrl: url,
    healthUrl: url,
    sign: '/livez',
  });
  return { ...program, smtpUrl: `smtp://127.0.0.1:${smtpPort}` };
}

/** Starts one of our programs with exactly these variables and waits until its `sign` answers 200. */
export async function startProgram(
  name: string,
  of: { environment: NodeJS.ProcessEnv; baseUrl: string; healthUrl: string; sign: string },
): Promise<ExtraProgram> {
  const program = start([`${name === 'simulator' ? 'local' : 'src'}/main/${name}.ts`], {
    env: of.environment,
  });
  await ready(program, `the ${name}`, async () => (await statusOf(`${of.healthUrl}${of.sign}`)) === 200);
  return { ...program, baseUrl: of.baseUrl, healthUrl: of.healthUrl };
}

/** A service without a supervisor: its programs are started and killed by the test, one by one. */
export interface BareStack extends Surroundings {
  [Symbol.asyncDispose](): Promise<void>;
  orm: Orm;
  /** Of its one enterprise. */
  rut: string;
  start(program: 'worker' | 'api', environment?: Record<string, string>): Promise<ExtraProgram>;
  /** The customer of the local stack, at the API of that address. */
  clientAt(baseUrl: string): HttpClient;
  /** Takes the enterprise to READY, with CAEs of these types; needs an API, at `baseUrl`, and a worker. */
  onboard(baseUrl: string, typeCodes: readonly number[]): Promise<Customer>;
  /** Tells a receiver of `cfe.updated` from now on. */
  tell(url: string): Promise<void>;
  ledger(): Promise<LedgerRow[]>;
}

/**
 * Prepares database, secrets and account as the local stack does; starts no program. It stands on the servers of the
 * test run, or on those that are given.
 */
export async function openBareStack(ground: {
  simulatorUrl: string;
  /** The mail server; left out: e-mails are not sent. */
  smtpUrl?: string;
  /** Authority of the certificates that receivers of webhooks may show. */
  caPem: string;
  servers?: { databaseUrl: string; temporalAddress: string };
}): Promise<BareStack> {
  const { simulatorUrl, smtpUrl = '', servers } = ground;
  const shared = servers ? undefined : await sharedServers();
  const databaseUrl = servers?.databaseUrl ?? shared?.variables.DATABASE_URL ?? '';
  const dataDir = mkdtempSync(join(tmpdir(), 'cfe-bare-'));
  writeFileSync(join(dataDir, 'ca.pem'), ground.caPem);
  const { secrets, made } = openSecrets(dataDir);
  await migrateDatabase({ databaseUrl, rolePasswords: servers && samePasswords(databaseUrl) });
  const keys = await prepareDatabase({ dataDir, databaseUrl, secrets, secretsAreNew: made, simulatorUrl });
  const orm = shared?.database.orm ?? (await openOrm({ databaseUrl, pool: 4 }));
  const rut = aRut();
  let headers: Record<string, string> = { 'x-api-key': keys.live_api_key };
  const { CFE_SEALING_KEY: sealingKey } = readConfig(['CFE_SEALING_KEY'], {
    CFE_SEALING_KEY: sealingKeyFor(secrets.key_encryption_keys),
  });

  const stack: BareStack = {
    dataDir,
    orm,
    rut,
    info: () => ({
      database_url: databaseUrl,
      temporal_address: servers?.temporalAddress ?? shared?.variables.TEMPORAL_ADDRESS ?? '',
      temporal_namespace: shared?.variables.TEMPORAL_NAMESPACE ?? 'default',
      simulator_url: simulatorUrl,
      smtp_url: smtpUrl,
    }),
    start: (program, environment) => startBeside(stack, program, environment),
    clientAt: (baseUrl) => createHttpClient(baseUrl, headers),
    async onboard(baseUrl, typeCodes) {
      const { data } = await createHttpClient(baseUrl, headers).post<{ access_token: string }>('/tokens', {});
      headers = { ...headers, authorization: `Bearer ${data.access_token}` };
      const customer = await logIn(baseUrl, keys.live_api_key);
      await onboard(customer, { simulatorUrl, typeCodes, rut });
      return customer;
    },
    async tell(url) {
      const deps = webhookDeps(orm, { sealer: createSealer(sealingKey) });
      await addWebhook(deps, { accountId: LOCAL_DEVELOPER, url, events: ['cfe.updated'] });
    },
    ledger: () => ledgerOf(simulatorUrl, { rut }),
    async [Symbol.asyncDispose]() {
      await (shared ? shared.database[Symbol.asyncDispose]() : orm.close(true));
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
  return stack;
}
