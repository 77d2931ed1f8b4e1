import got from 'got';
import { addAuthorityCertificates } from '../commands/addAuthorityCertificates.ts';
import { createAccount } from '../commands/createAccount.ts';
import { createApiKey } from '../commands/createApiKey.ts';
import { setRateLimit } from '../commands/setRateLimit.ts';
import type { CommandDeps } from '../commands/steps/deps.ts';
import { readConfig } from '../config.ts';
import { createApiKeys } from '../crypto/apiKeys.ts';
import { migrate, openOrm } from '../db/orm.ts';
import { ensureAppRole } from '../db/rights.ts';
import { ENVIRONMENTS, type Environment } from '../domain/cfeTypes.ts';
import {
  certificateAuthoritiesFile,
  serviceCertificateFile,
  serviceCertificatePassword,
} from '../stack/papers.ts';
import { waitUntil } from '../stack/processes.ts';
import { StackError } from '../stack/stackError.ts';
import type { Migrate, Prepare } from '../stack/stackOptions.ts';
import { writeAtOnce } from '../stack/writeAtOnce.ts';
import { AUTHORITY_RUTS, authorityRutsOf } from './dgiClient.ts';

/**
 * The account *Local developer* (docs/contract.md#local-stack); its id is fixed, so that every start finds it again.
 */
export const LOCAL_DEVELOPER = '0c0e1ab1-0000-4000-8000-000000000001';
/** Requests an hour that it may make, in each environment. */
const LOCAL_PER_HOUR = 100_000;
/** The operator's RUT in the local stack: one of those that the authority's own tests use. */
const OPERATOR_RUT = '219999820013';
/** How long the simulator may take to tell its certificates. */
const SIMULATOR_MILLISECONDS = 30_000;

/**
 * Makes the local stack ready, at every start: the account *Local developer* with its two keys and its limits, trust in
 * the simulator's certificates, whom it lets certify companies, and the operator's own certificate.
 */
export const prepareDatabase: Prepare = async (input) => {
  const portal = portalFiles(input);
  const [keys] = await Promise.all([prepareRows(input, portal), keepPapers(input, portal)]);
  return keys;
};

/** Brings the database of the local stack up to date, and gives the role of the service its password and its rights. */
export const migrateDatabase: Migrate = async ({ databaseUrl, appPassword }) => {
  const orm = await openOrm({ databaseUrl, pool: 2 });
  try {
    if (appPassword !== undefined) await ensureAppRole(orm.em.fork(), appPassword);
    await migrate(orm);
  } finally {
    await orm.close(true);
  }
};

type Input = Parameters<Prepare>[0];

async function prepareRows({ databaseUrl, secrets }: Input, portal: Promise<PortalFiles>) {
  const orm = await openOrm({ databaseUrl, pool: 2 });
  try {
    const deps: CommandDeps = { orm, clock: () => new Date(), outbox: { dispatchSoon: () => undefined } };
    const account = await createAccount(deps, {
      accountId: LOCAL_DEVELOPER,
      name: 'Local developer',
      email: 'developer@localhost',
      isDeveloper: true,
    });
    const apiKeys = createApiKeys(Buffer.from(secrets.pepper, 'base64'));
    const keyFor = async (environment: Environment, text: string | undefined): Promise<string> => {
      const made = await createApiKey(
        { ...deps, apiKeys },
        { accountId: account.id, environment, label: 'Local stack', ...(text === undefined ? {} : { text }) },
      );
      return made.text;
    };
    const live_api_key = await keyFor('production', secrets.live_api_key);
    const test_api_key = await keyFor('sandbox', secrets.test_api_key);
    for (const environment of ENVIRONMENTS) {
      await setRateLimit(deps, { accountId: account.id, environment, perHour: LOCAL_PER_HOUR, keep: true });
    }
    const { authorityCertificates: pem } = await portal;
    const authorityRuts = authorityRutsOf(readConfig(AUTHORITY_RUTS));
    await addAuthorityCertificates({ ...deps, authorityRuts }, { pem });
    return { live_api_key, test_api_key };
  } finally {
    await orm.close(true);
  }
}

async function keepPapers({ dataDir }: Input, portal: Promise<PortalFiles>): Promise<void> {
  const { serviceCertificate, certificateAuthorities } = await portal;
  writeAtOnce(certificateAuthoritiesFile(dataDir), certificateAuthorities, 0o644);
  writeAtOnce(serviceCertificateFile(dataDir), serviceCertificate, 0o600);
}

/** What the local stack has from the simulator's portal. */
interface PortalFiles {
  /** PEM. */
  authorityCertificates: string;
  /** PEM of those who certify companies. */
  certificateAuthorities: string;
  /** A .p12. */
  serviceCertificate: Uint8Array;
}

async function portalFiles({ simulatorUrl, secrets }: Input): Promise<PortalFiles> {
  const pem = await authorityCertificates(simulatorUrl);
  const authorities = await got.get(`${simulatorUrl}/portal/certificate-authorities`).text();
  const { cert_b64 } = await got
    .post(`${simulatorUrl}/portal/certificates`, {
      json: {
        rut: OPERATOR_RUT,
        legal_name: 'Local operator',
        password: serviceCertificatePassword(secrets),
      },
    })
    .json<{ cert_b64: string }>();
  return {
    authorityCertificates: pem,
    certificateAuthorities: authorities,
    serviceCertificate: Buffer.from(cert_b64, 'base64'),
  };
}

async function authorityCertificates(simulatorUrl: string): Promise<string> {
  let pem: string | undefined;
  const ask = async (): Promise<boolean> => {
    try {
      pem = await got.get(`${simulatorUrl}/portal/authority-certificates`, { retry: { limit: 0 } }).text();
      return true;
    } catch {
      return false;
    }
  };
  await waitUntil(ask, SIMULATOR_MILLISECONDS, 50);
  if (pem === undefined) throw new StackError('The simulator does not tell its certificates.');
  return pem;
}
