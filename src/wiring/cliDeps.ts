import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { resolve } from 'node:path';
import { branchView } from '../api/views/branch.ts';
import { cfeView } from '../api/views/cfe.ts';
import { customerView } from '../api/views/customer.ts';
import { dailyReportView } from '../api/views/dailyReport.ts';
import { erutView } from '../api/views/erut.ts';
import type { Acting } from '../cli/run.ts';
import type { CliDeps } from '../cli/verb.ts';
import { isSet, processVariables, readConfig, type VariableName, type Variables } from '../config.ts';
import { createApiKeys } from '../crypto/apiKeys.ts';
import { sealingKeyFor } from '../crypto/newSecrets.mjs';
import { createRequestHash } from '../crypto/requestHash.ts';
import { createOpener, createSealer } from '../crypto/sealed.ts';
import { openOrm } from '../db/orm.ts';
import { Refusal } from '../errors.ts';
import { armFailpoints } from '../failpoints.ts';
import { CHECKOUT } from '../stack/checkout.ts';
import {
  certificateAuthoritiesFile,
  serviceCertificateFile,
  serviceCertificatePassword,
} from '../stack/papers.ts';
import { simulatorAddresses } from '../stack/programs.ts';
import { openSecrets } from '../stack/secrets.ts';
import { runningStack } from '../stack/stackFile.ts';
import { createAskAuthority } from './askAuthority.ts';
import type { openSupport } from './askSupport.ts';
import { businessClock, CLOCK_VARIABLES } from './businessClock.ts';
import { CAP_VARIABLES, capsOf } from './caps.ts';
import { readCertificateAuthorities } from './certificateAuthorities.ts';
import { ensureSchema, TIMEOUT_VARIABLES, timeoutsOf } from './database.ts';
import { AUTHORITY_RUTS, authorityRutsOf } from './dgiClient.ts';
import { openRates, RATES_VARIABLES } from './rates.ts';
import { LOOK_UP_VARIABLES, openRutLookUp } from './rutLookUp.ts';
import { TEMPORAL_SERVER_VARIABLES, temporalServerOf, withoutTemporalSecurity } from './temporalServer.ts';

/**
 * The variables that are set and, where they name no other database, those of the local stack if it runs: its pepper is
 * for its own database only, since a key hashed with another one opens nothing.
 */
function variablesOrStack(): Variables {
  const dataDir = resolve(CHECKOUT, readConfig(['CFE_DATA_DIR']).CFE_DATA_DIR);
  const stack = runningStack(dataDir);
  if (!stack) return processVariables;
  const given = isSet('DATABASE_URL') ? readConfig(['DATABASE_URL']).DATABASE_URL : undefined;
  if (given !== undefined && given !== stack.database_url) return processVariables;
  const { secrets } = openSecrets(dataDir);
  const { pepper, key_encryption_keys } = secrets;
  const local: Partial<Record<VariableName, string>> = {
    DATABASE_URL: stack.database_url,
    CFE_CONSOLE_URL: stack.console_url,
    TEMPORAL_ADDRESS: stack.temporal_address,
    TEMPORAL_NAMESPACE: stack.temporal_namespace,
    ...simulatorAddresses(stack.simulator_url),
    CFE_PEPPER: pepper,
    CFE_KEY_ENCRYPTION_KEYS: key_encryption_keys,
    CFE_SEALING_KEY: sealingKeyFor(key_encryption_keys),
    CFE_WEBHOOK_LOCAL_CA_FILE: stack.ca_file,
    CFE_PUBLIC_URL: new URL(stack.base_url).origin,
    CFE_CHECKOUT_URL: `${new URL(stack.base_url).origin}/checkout`,
    CFE_CERTIFICATE_CA_FILE: certificateAuthoritiesFile(dataDir),
    // A certificate of one's own comes with a password of its own.
    ...(isSet('CFE_SERVICE_CERTIFICATE_FILE')
      ? {}
      : {
          CFE_SERVICE_CERTIFICATE_FILE: serviceCertificateFile(dataDir),
          CFE_SERVICE_CERTIFICATE_PASSWORD: serviceCertificatePassword(secrets),
        }),
  };
  const missing = Object.entries(local).filter(([name]) => !isSet(name as VariableName));
  const ownTemporal = stack.temporal_ui_url !== null && !isSet('TEMPORAL_ADDRESS');
  const others = ownTemporal ? withoutTemporalSecurity(processVariables) : processVariables;
  return { ...others, ...Object.fromEntries(missing) };
}

/**
 * Runs `work` with the database open and everything else opened by the first verb that needs it; closes all afterwards.
 * Refuses where no database is configured (UNAVAILABLE), and where a verb acts and nobody says who does (INVALID_INPUT).
 */
export async function withCliDeps<T>(who: Acting, work: (deps: CliDeps) => Promise<T>): Promise<T> {
  armFailpoints();
  const actor = who.acts ? { actor: `cli:${personName(who.by)}` as const } : {};
  const source = variablesOrStack();
  if (!isSet('DATABASE_URL', source)) {
    const message = 'No database is configured: set DATABASE_URL, or start the local stack (npm start).';
    throw new Refusal('UNAVAILABLE', message);
  }
  const config = readConfig(['DATABASE_URL', ...TIMEOUT_VARIABLES, ...CAP_VARIABLES], source);
  const orm = await openOrm({ databaseUrl: config.DATABASE_URL, pool: 2, timeouts: timeoutsOf(config) });
  const support = supportOf(source);
  try {
    await ensureSchema(orm, readConfig(['CFE_MIGRATE'], source));
    return await work({
      orm,
      caps: capsOf(config),
      clock: businessClock(readConfig(CLOCK_VARIABLES, source)),
      // The relay of the worker finds what is stored within a second.
      outbox: { dispatchSoon: () => undefined },
      readFile: (path) => readBytes(path).toString('utf8'),
      readBytes,
      ...actor,
      authorityRuts: authorityRutsOf(readConfig(AUTHORITY_RUTS, source)),
      askSupport: support.ask,
      askRejected: support.askRejected,
      askAuthority: () => createAskAuthority(orm, source),
      ratesFor: () => openRates(readConfig(RATES_VARIABLES, source), orm),
      sealer: () => createSealer(readConfig(['CFE_SEALING_KEY'], source).CFE_SEALING_KEY),
      opener: () => createOpener(readConfig(['CFE_KEY_ENCRYPTION_KEYS'], source).CFE_KEY_ENCRYPTION_KEYS),
      certificateAuthorities: () =>
        readCertificateAuthorities(readConfig(['CFE_CERTIFICATE_CA_FILE'], source)),
      requestHash: () => createRequestHash(readConfig(['CFE_PEPPER'], source).CFE_PEPPER),
      checkoutUrl: () => readConfig(['CFE_CHECKOUT_URL'], source).CFE_CHECKOUT_URL,
      lookUpRut: async (rut) => {
        const lookUp = await openRutLookUp(readConfig(LOOK_UP_VARIABLES, source), orm, () => undefined);
        const record = await lookUp(rut);
        return record && erutView(record);
      },
      branchObject: branchView,
      customerObject: customerView,
      localReceivers: Boolean(source['CFE_WEBHOOK_LOCAL_CA_FILE']),
      consoleUrl: () => readConfig(['CFE_CONSOLE_URL'], source).CFE_CONSOLE_URL,
      cfeObject: (cfe) => cfeView(cfe, { publicUrl: readConfig(['CFE_PUBLIC_URL'], source).CFE_PUBLIC_URL }),
      reportObject: dailyReportView,
      apiKeys: () => createApiKeys(readConfig(['CFE_PEPPER'], source).CFE_PEPPER),
    });
  } finally {
    await support.close();
    await orm.close(true);
  }
}

/** Support's connection to Temporal, which few verbs need: loaded and opened by the first that does. */
function supportOf(
  source: Variables,
): Pick<CliDeps, 'askRejected'> & { ask: CliDeps['askSupport']; close(): Promise<void> } {
  let opened: ReturnType<typeof openSupport> | undefined;
  const open = async () => {
    const config = readConfig([...TEMPORAL_SERVER_VARIABLES, 'TEMPORAL_NAMESPACE'], source);
    opened ??= (await import('./askSupport.ts')).openSupport({
      server: temporalServerOf(config),
      namespace: config.TEMPORAL_NAMESPACE,
    });
    return opened;
  };
  return {
    ask: async (workflowId, request, once) => (await open()).ask(workflowId, request, once),
    askRejected: async (cfe, request) => (await open()).askRejected(cfe, request),
    close: async () => opened?.close(),
  };
}

/** Who acts, for the audit: the person named, else the user of this machine, where each person has one of their own. */
function personName(by: string | undefined): string {
  if (by !== undefined) return by;
  if (readConfig(['CFE_CLI_BY']).CFE_CLI_BY === 'os-user') {
    try {
      return userInfo().username;
    } catch {
      // An account without an entry in the user database, as in some containers.
    }
  }
  throw new Refusal(
    'INVALID_INPUT',
    'Say who acts, for the audit: --by NAME. Nobody has a user of their own here.',
  );
}

/** The bytes of the file at a path that a person gave, or of standard input. Refuses one that cannot be read (INVALID_INPUT). */
function readBytes(path: string): Buffer {
  // npm runs us in the checkout; the person may be in another folder.
  const folder = processVariables['npm_lifecycle_event'] === 'cfe' ? processVariables['INIT_CWD'] : undefined;
  try {
    return readFileSync(path === '-' ? 0 : resolve(folder ?? '.', path));
  } catch (cause) {
    throw new Refusal('INVALID_INPUT', `The file ${path} cannot be read.`, { cause });
  }
}
