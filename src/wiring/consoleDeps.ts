import type { readConfig } from '../config.ts';
import { createOidc } from '../console/access/oidc.ts';
import type { ConsoleDeps } from '../console/page.ts';
import { createApiKeys } from '../crypto/apiKeys.ts';
import { createKnownBrowsers } from '../crypto/knownBrowsers.ts';
import { createPasswords } from '../crypto/passwords.ts';
import { createRequestHash } from '../crypto/requestHash.ts';
import { createSealer } from '../crypto/sealed.ts';
import { createTotpSecrets } from '../crypto/totp.ts';
import { businessClock, CLOCK_VARIABLES } from './businessClock.ts';
import { CAP_VARIABLES, capsOf } from './caps.ts';
import { openRevocationLookUp, readCertificateAuthorities } from './certificateAuthorities.ts';
import { paceOf } from './pace.ts';
import type { Closers } from './process.ts';
import { drawSheet, PROVIDER_VARIABLES, providerOf } from './provider.ts';
import { openSupport } from './temporal/askSupport.ts';
import type { TEMPORAL_VARIABLES } from './temporal/outbox.ts';
import { temporalServerOf } from './temporal/temporalServer.ts';
import { TEST_KIT_VARIABLES, testKitOf } from './testKit.ts';

/** Variables that configure the console, except its database and Temporal. */
export const CONSOLE_VARIABLES = [
  ...CAP_VARIABLES,
  ...CLOCK_VARIABLES,
  ...TEST_KIT_VARIABLES,
  ...PROVIDER_VARIABLES,
  'CFE_CONSOLE_URL',
  'CFE_PEPPER',
  'CFE_CONSOLE_PEPPER',
  'CFE_SEALING_KEY',
  'CFE_PUBLIC_URL',
  'CFE_DGI_SENDS_PER_SECOND',
  'CFE_CHECKOUT_URL',
  'CFE_WEBHOOK_LOCAL_CA_FILE',
  'CFE_CERTIFICATE_CA_FILE',
  'CFE_MAIL_SANDBOX_ALLOW',
  'CFE_OIDC_ISSUER',
  'CFE_OIDC_CLIENT_ID',
  'CFE_OIDC_CLIENT_SECRET',
  'CFE_OIDC_ROLE_CLAIM',
  'CFE_TEMPORAL_UI_URL',
  'CFE_DEVELOPMENT',
] as const;

type Config = ReturnType<
  typeof readConfig<(typeof CONSOLE_VARIABLES)[number] | (typeof TEMPORAL_VARIABLES)[number]>
>;

/** Creates the dependencies of the console's pages. */
export function createConsoleDeps(
  config: Config,
  {
    closers,
    ...shared
  }: Pick<ConsoleDeps, 'orm' | 'outbox' | 'logger' | 'changes' | 'onSignIn'> & { closers: Closers },
): ConsoleDeps {
  const support = openSupport({ server: temporalServerOf(config), namespace: config.TEMPORAL_NAMESPACE });
  closers.add('support', () => support.close());
  return {
    ...shared,
    clock: () => new Date(),
    businessClock: businessClock(config),
    caps: capsOf(config),
    sandboxMails: config.CFE_MAIL_SANDBOX_ALLOW,
    sealer: createSealer(config.CFE_SEALING_KEY),
    apiKeys: createApiKeys(config.CFE_PEPPER),
    localReceivers: config.CFE_WEBHOOK_LOCAL_CA_FILE !== '',
    requestHash: createRequestHash(config.CFE_PEPPER),
    certificateAuthorities: readCertificateAuthorities(config),
    lookUpRevocation: openRevocationLookUp(config),
    testKit: testKitOf(config),
    provider: providerOf(config),
    drawSheet,
    publicUrl: config.CFE_PUBLIC_URL,
    checkoutUrl: config.CFE_CHECKOUT_URL,
    passwords: createPasswords(),
    totpSecrets: createTotpSecrets(config.CFE_CONSOLE_PEPPER),
    knownBrowsers: createKnownBrowsers(config.CFE_CONSOLE_PEPPER),
    pace: paceOf(config),
    askSupport: support.ask,
    askRejected: support.askRejected,
    oidc: oidcOf(config),
    consoleUrl: config.CFE_CONSOLE_URL,
    temporalUi:
      config.CFE_TEMPORAL_UI_URL === ''
        ? null
        : { url: config.CFE_TEMPORAL_UI_URL.replace(/\/$/, ''), namespace: config.TEMPORAL_NAMESPACE },
  };
}

function oidcOf(config: Config): ConsoleDeps['oidc'] {
  if (config.CFE_OIDC_ISSUER === '') return null;
  return createOidc({
    issuer: config.CFE_OIDC_ISSUER,
    clientId: config.CFE_OIDC_CLIENT_ID,
    clientSecret: config.CFE_OIDC_CLIENT_SECRET,
    roleClaim: config.CFE_OIDC_ROLE_CLAIM,
    consoleUrl: config.CFE_CONSOLE_URL,
    allowHttp: config.CFE_DEVELOPMENT,
  });
}
