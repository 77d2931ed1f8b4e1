/** The variables that lead the command line to the local stack. */
import { resolve } from 'node:path';
import type { VariableName, Variables } from '../../src/config.ts';
import { sealingKeyFor } from '../../src/crypto/newSecrets.mjs';
import { removeTemporalSecurity } from '../../src/wiring/temporal/temporalServer.ts';
import { isSet, readConfig } from '../config.ts';
import { CHECKOUT } from './checkout.ts';
import {
  certificateAuthoritiesFile,
  LOCAL_PROVIDER,
  serviceCertificateFile,
  serviceCertificatePassword,
} from './papers.ts';
import { simulatorAddresses } from './programs.ts';
import { openSecrets } from './secrets.ts';
import { runningStack } from './stackFile.ts';

/**
 * These variables, completed by those of the running local stack; unchanged where none runs, or where they
 * name another database: the stack's pepper opens nothing there.
 */
export function variablesWithStack(variables: Variables): Variables {
  const isGiven = (name: VariableName): boolean => isSet(name, variables);
  const dataDir = resolve(CHECKOUT, readConfig(['CFE_DATA_DIR'], variables).CFE_DATA_DIR);
  const stack = runningStack(dataDir);
  if (!stack) return variables;
  const named = isGiven('DATABASE_URL') ? readConfig(['DATABASE_URL'], variables).DATABASE_URL : undefined;
  if (named !== undefined && named !== stack.database_url) return variables;
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
    ...LOCAL_PROVIDER,
    CFE_PUBLIC_URL: new URL(stack.base_url).origin,
    CFE_CHECKOUT_URL: `${new URL(stack.base_url).origin}/checkout`,
    CFE_CERTIFICATE_CA_FILE: certificateAuthoritiesFile(dataDir),
    // A certificate of one's own comes with a password of its own.
    ...(isGiven('CFE_SERVICE_CERTIFICATE_FILE')
      ? {}
      : {
          CFE_SERVICE_CERTIFICATE_FILE: serviceCertificateFile(dataDir),
          CFE_SERVICE_CERTIFICATE_PASSWORD: serviceCertificatePassword(secrets),
        }),
  };
  const missing = Object.entries(local).filter(([name]) => !isGiven(name as VariableName));
  const ownTemporal = stack.temporal_ui_url !== null && !isGiven('TEMPORAL_ADDRESS');
  const others = ownTemporal ? removeTemporalSecurity(variables) : variables;
  return { ...others, ...Object.fromEntries(missing) };
}
