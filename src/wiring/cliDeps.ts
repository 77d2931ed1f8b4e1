import { readFileSync, writeFileSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { resolve } from 'node:path';
import { GROUPS } from '../cli/groups/index.ts';
import { type Acting, type CliPorts, runCli } from '../cli/run.ts';
import type { CliDeps } from '../cli/verb.ts';
import { isSet, readConfig, type Variables } from '../config.ts';
import { createApiKeys } from '../crypto/apiKeys.ts';
import { createRequestHash } from '../crypto/requestHash.ts';
import { createOpener, createSealer } from '../crypto/sealed.ts';
import { isDatabaseOutage, openOrm } from '../db/orm.ts';
import { Refusal } from '../errors.ts';
import { armFailpoints } from '../failpoints.ts';
import { createAskAuthority } from './askAuthority.ts';
import { businessClock, CLOCK_VARIABLES } from './businessClock.ts';
import { CAP_VARIABLES, capsOf } from './caps.ts';
import { openRevocationLookUp, readCertificateAuthorities } from './certificateAuthorities.ts';
import { ensureSchema, TIMEOUT_VARIABLES, timeoutsOf } from './database.ts';
import { AUTHORITY_RUT_VARIABLES, authorityRutsOf } from './dgiClient.ts';
import { paceOf } from './pace.ts';
import {
  drawSheet,
  openProviderSigner,
  PROVIDER_VARIABLES,
  providerOf,
  SIGNING_VARIABLES,
} from './provider.ts';
import { openRates, RATES_VARIABLES } from './rates.ts';
import { LOOK_UP_VARIABLES, openRutLookUp } from './rutLookUp.ts';
import type { openSupport } from './temporal/askSupport.ts';
import { TEMPORAL_SERVER_VARIABLES, temporalServerOf } from './temporal/temporalServer.ts';
import { TEST_KIT_VARIABLES, testKitOf } from './testKit.ts';

/**
 * Runs the command line with these arguments and variables; returns the exit code. @internal exported for
 * tests
 */
export const callCli = (
  args: readonly string[],
  variables: Variables,
  writers: Pick<CliPorts, 'writeOut' | 'writeError'>,
): Promise<number> =>
  runCli(args, GROUPS, {
    ...writers,
    withDeps: (who, work) => withCliDeps(variables, who, work),
    refusalFor: (error) =>
      isDatabaseOutage(error)
        ? new Refusal('UNAVAILABLE', 'The database cannot be reached.', { cause: error })
        : undefined,
  });

/** Runs the command line in this process, with its arguments, output and exit code. */
export async function runCliProcess(variables: Variables): Promise<void> {
  // A reader such as `| head` may close the pipe early.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  process.exitCode = await callCli(process.argv.slice(2), variables, {
    writeOut: (text) => void process.stdout.write(text),
    writeError: (text) => void process.stderr.write(text),
  });
}

/**
 * Runs `work` with an open database; opens all other dependencies on first use, and closes all afterwards. Throws
 * UNAVAILABLE without a configured database, and INVALID_INPUT when a verb that acts has no person.
 */
async function withCliDeps<T>(
  source: Variables,
  who: Acting,
  work: (deps: CliDeps) => Promise<T>,
): Promise<T> {
  armFailpoints(source);
  // The name in --by is unverified; the user and the machine are known.
  const origin = { keyId: null, address: `${userOfMachine() ?? process.getuid?.()}@${hostname()}` };
  const actor = who.acts ? { actor: `cli:${personName(source, who.by)}` as const, origin } : {};
  const readBytes = (path: string): Buffer => readFileBytes(source, path);
  if (!isSet('DATABASE_URL', source)) {
    const message = 'No database is configured: set DATABASE_URL, or start the local stack (npm start).';
    throw new Refusal('UNAVAILABLE', message);
  }
  const config = readConfig(
    ['DATABASE_URL', 'CFE_MAIL_SANDBOX_ALLOW', ...TIMEOUT_VARIABLES, ...CAP_VARIABLES],
    source,
  );
  const orm = await openOrm({ databaseUrl: config.DATABASE_URL, pool: 2, timeouts: timeoutsOf(config) });
  const support = openSupportOnce(source);
  try {
    await ensureSchema(orm, readConfig(['CFE_MIGRATE'], source));
    return await work({
      orm,
      caps: capsOf(config),
      sandboxMails: config.CFE_MAIL_SANDBOX_ALLOW,
      clock: businessClock(readConfig(CLOCK_VARIABLES, source)),
      // The worker's relay finds stored messages within a second; leased messages, once their lease has ended.
      outbox: { scheduleDispatch: () => undefined, dispatchStored: () => undefined },
      pace: paceOf(readConfig(['CFE_DGI_SENDS_PER_SECOND'], source)),
      readFile: (path) => readBytes(path).toString('utf8'),
      readBytes,
      ...actor,
      authorityRuts: authorityRutsOf(readConfig(AUTHORITY_RUT_VARIABLES, source)),
      askSupport: support.ask,
      askRejected: support.askRejected,
      askAuthority: () => createAskAuthority(orm, source),
      lookUpRates: () => openRates(readConfig(RATES_VARIABLES, source), orm),
      sealer: () => createSealer(readConfig(['CFE_SEALING_KEY'], source).CFE_SEALING_KEY),
      opener: () => createOpener(readConfig(['CFE_KEY_ENCRYPTION_KEYS'], source).CFE_KEY_ENCRYPTION_KEYS),
      ...certificateDeps(source),
      writeFile: (path, bytes) => writeFileBytes(source, path, bytes),
      drawSheet,
      testKit: () => testKitOf(readConfig(TEST_KIT_VARIABLES, source)),
      requestHash: () => createRequestHash(readConfig(['CFE_PEPPER'], source).CFE_PEPPER),
      checkoutUrl: () => readConfig(['CFE_CHECKOUT_URL'], source).CFE_CHECKOUT_URL,
      lookUpRut: async (rut) => {
        const lookUp = await openRutLookUp(readConfig(LOOK_UP_VARIABLES, source), orm, () => undefined);
        return lookUp(rut);
      },
      localReceivers: Boolean(source['CFE_WEBHOOK_LOCAL_CA_FILE']),
      consoleUrl: () => readConfig(['CFE_CONSOLE_URL'], source).CFE_CONSOLE_URL,
      publicUrl: () => readConfig(['CFE_PUBLIC_URL'], source).CFE_PUBLIC_URL,
      apiKeys: () => createApiKeys(readConfig(['CFE_PEPPER'], source).CFE_PEPPER),
    });
  } finally {
    await support.close();
    await orm.close(true);
  }
}

/** Opens support's connection to Temporal on first use, because few verbs need the connection. */
function openSupportOnce(
  source: Variables,
): Pick<CliDeps, 'askRejected'> & { ask: CliDeps['askSupport']; close(): Promise<void> } {
  let opened: ReturnType<typeof openSupport> | undefined;
  const open = async () => {
    const config = readConfig([...TEMPORAL_SERVER_VARIABLES, 'TEMPORAL_NAMESPACE'], source);
    opened ??= (await import('./temporal/askSupport.ts')).openSupport({
      server: temporalServerOf(config),
      namespace: config.TEMPORAL_NAMESPACE,
    });
    return opened;
  };
  return {
    ask: async (workflowId, request) => (await open()).ask(workflowId, request),
    askRejected: async (cfe, request) => (await open()).askRejected(cfe, request),
    close: async () => opened?.close(),
  };
}

/**
 * Returns the actor for the audit: the named person, or else the operating-system user if CFE_CLI_BY says that each
 * person has one.
 */
function personName(variables: Variables, by: string | undefined): string {
  if (by !== undefined) return by;
  const user = readConfig(['CFE_CLI_BY'], variables).CFE_CLI_BY === 'os-user' ? userOfMachine() : undefined;
  if (user !== undefined) return user;
  throw new Refusal(
    'INVALID_INPUT',
    'Name the person who acts, for the audit: --by NAME. The command line has no users of its own.',
  );
}

/** Returns the bytes of a file, or of standard input. Throws INVALID_INPUT for an unreadable file. */
function readFileBytes(variables: Variables, path: string): Buffer {
  try {
    return readFileSync(path === '-' ? 0 : toFilePath(variables, path));
  } catch (cause) {
    throw new Refusal('INVALID_INPUT', `The file ${path} cannot be read.`, { cause });
  }
}

/** Writes a file. Throws INVALID_INPUT if it cannot be written. */
function writeFileBytes(variables: Variables, path: string, bytes: Uint8Array): void {
  try {
    writeFileSync(toFilePath(variables, path), bytes);
  } catch (cause) {
    throw new Refusal('INVALID_INPUT', `The file ${path} cannot be written.`, { cause });
  }
}

/** Resolves a path from the person's folder: npm runs the command line in the checkout. */
const toFilePath = (variables: Variables, path: string): string =>
  resolve((variables['npm_lifecycle_event'] === 'cfe' ? variables['INIT_CWD'] : undefined) ?? '.', path);

/**
 * Returns the name of the operating-system user; undefined without an entry in the user database, as in some
 * containers.
 */
function userOfMachine(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    return undefined;
  }
}

/** Dependencies of verbs that judge certificates, or sign with the operator's own certificate. */
const certificateDeps = (source: Variables) => ({
  certificateAuthorities: () => readCertificateAuthorities(readConfig(['CFE_CERTIFICATE_CA_FILE'], source)),
  lookUpRevocation: openRevocationLookUp(readConfig(['CFE_WEBHOOK_LOCAL_CA_FILE'], source)),
  provider: () => providerOf(readConfig(PROVIDER_VARIABLES, source)),
  signProviderReport: () => openProviderSigner(readConfig(SIGNING_VARIABLES, source)),
});
