/** How our own programs are started: the command, and the variables that tell them where everything is. */
import { join } from 'node:path';
import type { VariableName, Variables } from '../../src/config.ts';
import { sealingKeyFor } from '../../src/crypto/newSecrets.mjs';
import { CHECKOUT } from './checkout.ts';
import {
  certificateAuthoritiesFile,
  LOCAL_PROVIDER,
  serviceCertificateFile,
  serviceCertificatePassword,
} from './papers.ts';
import type { Command } from './processes/launch.ts';
import type { StackPorts } from './processes/ports.ts';
import type { StackSecrets } from './secrets.ts';
import type { DatabaseLogin, ProgramName } from './stackOptions.ts';

/** Which program holds which of the stack's secrets, as in the compose file: what a stolen part opens is the least. */
const HOLDERS: Partial<Record<VariableName, readonly ProgramName[]>> = {
  DATABASE_URL: ['api', 'worker', 'console'],
  CFE_SEALING_KEY: ['api', 'console'],
  CFE_KEY_ENCRYPTION_KEYS: ['worker'],
  CFE_PEPPER: ['api', 'console'],
  CFE_CONSOLE_PEPPER: ['console'],
  CFE_TOKEN_KEYS: ['api'],
  CFE_SERVICE_CERTIFICATE_PASSWORD: ['api'],
  CFE_SMTP_URL: ['worker'],
  CFE_MAIL_DKIM_KEY: ['worker'],
  CFE_OIDC_CLIENT_SECRET: ['console'],
};

export interface ProgramSettings {
  readonly variables: Variables;
  readonly dataDir: string;
  readonly secrets: StackSecrets;
  readonly ports: StackPorts;
  /** Its address for who logs in. */
  readonly databaseUrl: (login: DatabaseLogin) => string;
  readonly temporalAddress: string;
  readonly temporalNamespace: string;
  readonly simulatorUrl: string;
  /** Of the simulator's mail server. */
  readonly smtpUrl: string;
  /** Without /v1. */
  readonly apiUrl: string;
  readonly consoleUrl: string;
}

/** The command that runs one of our programs. */
export function programCommand(name: ProgramName, program: string, settings: ProgramSettings): Command {
  return {
    program: process.execPath,
    args: ['--disable-warning=ExperimentalWarning', program],
    env: programVariables(name, settings),
    cwd: CHECKOUT,
    logFile: join(settings.dataDir, 'logs', `${name}.log`),
  };
}

/** The variables by which a program finds the simulator in place of the authority's services. */
export const simulatorAddresses = (simulatorUrl: string) => ({
  CFE_DEVELOPMENT: 'true',
  CFE_DGI_PRODUCTION_RECEPTION_URL: `${simulatorUrl}/production/ws_efactura`,
  CFE_DGI_PRODUCTION_CONSULTATION_URL: `${simulatorUrl}/production/ws_consultas`,
  CFE_DGI_PRODUCTION_REGISTRY_URL: `${simulatorUrl}/production/ws_personaGetActEmpresarial`,
  CFE_DGI_SANDBOX_RECEPTION_URL: `${simulatorUrl}/sandbox/ws_efactura`,
  CFE_DGI_SANDBOX_CONSULTATION_URL: `${simulatorUrl}/sandbox/ws_consultas`,
  CFE_RATES_URL: `${simulatorUrl}/wscotizaciones/servlet`,
});

/**
 * The variables of one of the stack's programs. What the stack decides is fixed; what it suggests (the simulator as the
 * authority, quick polling) gives way to what a person has set.
 *
 * @internal exported for tests
 */
export function programVariables(
  name: ProgramName,
  settings: ProgramSettings,
): Record<string, string | undefined> {
  const { variables, secrets, ports, simulatorUrl } = settings;
  const suggested: Record<string, string> = {
    CFE_POLL_LONGEST_SECONDS: '10',
    CFE_REPORT_ASK_AFTER: '5s',
    ...simulatorAddresses(simulatorUrl),
    CFE_SANDBOX_PORTAL_URL: `${simulatorUrl}/portal`,
    ...LOCAL_PROVIDER,
    CFE_CREDENTIALS_URL: `${simulatorUrl}/credentials/validate`,
    CFE_WEBHOOK_LOCAL_CA_FILE: join(settings.dataDir, 'ca.pem'),
    CFE_CERTIFICATE_CA_FILE: certificateAuthoritiesFile(settings.dataDir),
    CFE_PUBLIC_URL: settings.apiUrl,
    CFE_CHECKOUT_URL: `${settings.apiUrl}/checkout`,
    ...(variables['CFE_SMTP_URL_FILE'] ? {} : { CFE_SMTP_URL: settings.smtpUrl }),
    CFE_MAIL_FROM: 'comprobantes@cfe.example',
    CFE_TEMPORAL_UI_URL: `http://127.0.0.1:${ports.temporalUi}`,
    // A certificate of one's own comes with a password of its own.
    ...(variables['CFE_SERVICE_CERTIFICATE_FILE']
      ? {}
      : {
          CFE_SERVICE_CERTIFICATE_FILE: serviceCertificateFile(settings.dataDir),
          CFE_SERVICE_CERTIFICATE_PASSWORD: serviceCertificatePassword(secrets),
        }),
  };
  const fixed: Record<string, string> = {
    ...(name === 'simulator' ? {} : { DATABASE_URL: settings.databaseUrl(name) }),
    TEMPORAL_ADDRESS: settings.temporalAddress,
    TEMPORAL_NAMESPACE: settings.temporalNamespace,
    CFE_DATA_DIR: settings.dataDir,
    CFE_API_PORT: String(ports.api),
    CFE_METRICS_PORT: String(ports.metrics),
    CFE_WORKER_METRICS_PORT: String(ports.workerMetrics),
    CFE_CONSOLE_PORT: String(ports.console),
    CFE_CONSOLE_METRICS_PORT: String(ports.consoleMetrics),
    CFE_CONSOLE_URL: settings.consoleUrl,
    CFE_POSTGRES_PORT: String(ports.postgres),
    CFE_TEMPORAL_PORT: String(ports.temporal),
    CFE_TEMPORAL_UI_PORT: String(ports.temporalUi),
    CFE_SIMULATOR_PORT: String(ports.simulator),
    CFE_SIMULATOR_SMTP_PORT: String(ports.smtp),
    CFE_KEY_ENCRYPTION_KEYS: secrets.key_encryption_keys,
    CFE_SEALING_KEY: sealingKeyFor(secrets.key_encryption_keys),
    CFE_PEPPER: secrets.pepper,
    CFE_CONSOLE_PEPPER: secrets.console_pepper,
    CFE_TOKEN_KEYS: JSON.stringify(secrets.token_keys),
  };
  // A secret given both as a value and as a file would be refused.
  const given = Object.entries(variables).filter(
    ([name, value]) => value && !(name.endsWith('_FILE') && name.slice(0, -'_FILE'.length) in fixed),
  );
  const all = { ...suggested, ...Object.fromEntries(given), ...fixed };
  return Object.fromEntries(Object.entries(all).filter(([variable]) => mayHold(name, variable)));
}

function mayHold(program: ProgramName, variable: string): boolean {
  const name = variable.replace(/_FILE$/, '');
  const [, holders] = Object.entries(HOLDERS).find(([secret]) => secret === name) ?? [];
  return holders?.includes(program) ?? true;
}
