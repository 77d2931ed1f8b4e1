import got from 'got';
import { addAuthorityCertificates } from '../../src/commands/authority/addAuthorityCertificates.ts';
import { createAccount, setRateLimit } from '../../src/commands/people/accounts.ts';
import { createApiKey } from '../../src/commands/people/apiKeys.ts';
import { acceptInvitation, createUser, inviteUser } from '../../src/commands/people/users.ts';
import type { CommandDeps } from '../../src/commands/steps/deps.ts';
import type { SignInDeps } from '../../src/commands/steps/people.ts';
import { readConfig } from '../../src/config.ts';
import { createApiKeys } from '../../src/crypto/apiKeys.ts';
import { newPassword } from '../../src/crypto/newSecrets.mjs';
import { createPasswords } from '../../src/crypto/passwords.ts';
import { createTotpSecrets, encodeBase32, totpCode } from '../../src/crypto/totp.ts';
import { Person } from '../../src/db/entities/people.ts';
import { migrate, openOrm } from '../../src/db/orm.ts';
import { ensureRoles } from '../../src/db/rights.ts';
import { ENVIRONMENTS, type Environment } from '../../src/domain/receipts/cfeTypes.ts';
import { AUTHORITY_RUT_VARIABLES, authorityRutsOf } from '../../src/wiring/dgiClient.ts';
import {
  certificateAuthoritiesFile,
  LOCAL_PROVIDER,
  serviceCertificateFile,
  serviceCertificatePassword,
} from './papers.ts';
import { waitUntil } from './processes/processes.ts';
import { StackError } from './stackError.ts';
import type { Entrances, Migrate, Prepare } from './stackOptions.ts';
import { writeAtOnce } from './writeAtOnce.ts';

/**
 * The account *Local developer* (docs/contract.md#local-stack); its id is fixed, so that every start finds it again.
 */
export const LOCAL_DEVELOPER = '0c0e1ab1-0000-4000-8000-000000000001';
/** Requests an hour that it may make, in each environment. */
const LOCAL_PER_HOUR = 100_000;
/** How long the simulator may take to tell its certificates. */
const SIMULATOR_MILLISECONDS = 30_000;

/**
 * Makes the local stack ready, at every start: the account *Local developer* with its two keys and its limits, two users of the console, trust in
 * the simulator's certificates, whom it lets certify companies, and the operator's own certificate.
 */
export const prepareDatabase: Prepare = async (input) => {
  const portal = portalFiles(input);
  const [keys] = await Promise.all([prepareRows(input, portal), keepPapers(input, portal)]);
  return keys;
};

/** Brings the database of the local stack up to date, and gives the programs' roles their passwords and rights. */
export const migrateDatabase: Migrate = async ({ databaseUrl, rolePasswords }) => {
  const orm = await openOrm({ databaseUrl, pool: 2 });
  try {
    if (rolePasswords !== undefined) await ensureRoles(orm.em.fork(), rolePasswords);
    await migrate(orm);
  } finally {
    await orm.close(true);
  }
};

type Input = Parameters<Prepare>[0];

async function prepareRows({ databaseUrl, secrets }: Input, portal: Promise<PortalFiles>) {
  const orm = await openOrm({ databaseUrl, pool: 2 });
  try {
    const deps: CommandDeps = { orm, clock: () => new Date(), outbox: { scheduleDispatch: () => undefined } };
    const account = await createAccount(deps, {
      accountId: LOCAL_DEVELOPER,
      name: 'Local developer',
      email: 'developer@localhost',
      isDeveloper: true,
    });
    const { CFE_PEPPER: peppers } = readConfig(['CFE_PEPPER'], { CFE_PEPPER: secrets.pepper });
    const apiKeys = createApiKeys(peppers);
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
    const authorityRuts = authorityRutsOf(readConfig(AUTHORITY_RUT_VARIABLES));
    await addAuthorityCertificates({ ...deps, authorityRuts }, { pem });
    return { live_api_key, test_api_key, ...(await prepareConsole(deps, account.id, secrets)) };
  } finally {
    await orm.close(true);
  }
}

const OPERATOR = 'operator@localhost.test';
const CUSTOMER = 'customer@localhost.test';

/** The two users of the console, with the passwords of earlier starts; whom the database does not know, or the secrets, is invited. */
async function prepareConsole(
  deps: CommandDeps,
  accountId: string,
  secrets: Input['secrets'],
): Promise<Pick<Entrances, 'console_operator' | 'console_customer'>> {
  const { CFE_CONSOLE_PEPPER: peppers } = readConfig(['CFE_CONSOLE_PEPPER'], {
    CFE_CONSOLE_PEPPER: secrets.console_pepper,
  });
  const totpSecrets = createTotpSecrets(peppers);
  const joining: SignInDeps = { ...deps, passwords: createPasswords(), totpSecrets };
  const known = new Set(
    (await deps.orm.em.fork().find(Person, {}, { orderBy: { email: 'asc' } })).map(({ email }) => email),
  );
  const join = async (email: string): Promise<{ password: string; totp: Buffer }> => {
    const { token } = (await inviteUser(deps, { email })).invitation;
    const [password, totp] = [newPassword(), totpSecrets.ofInvitation(token)];
    const code = email === OPERATOR ? totpCode(totp, deps.clock()) : '';
    await acceptInvitation(joining, { token, password, code });
    return { password, totp };
  };
  let { console_operator, console_customer } = secrets;
  if (!console_operator || !known.has(OPERATOR)) {
    await createUser(deps, { email: OPERATOR, operatorRole: 'ADMIN' });
    const { password, totp } = await join(OPERATOR);
    console_operator = { email: OPERATOR, password, totp_secret: encodeBase32(totp) };
  }
  if (!console_customer || !known.has(CUSTOMER)) {
    await createUser(deps, { email: CUSTOMER, accountId, role: 'OWNER' });
    console_customer = { email: CUSTOMER, password: (await join(CUSTOMER)).password };
  }
  return { console_operator, console_customer };
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
        rut: LOCAL_PROVIDER.CFE_PROVIDER_RUT,
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
