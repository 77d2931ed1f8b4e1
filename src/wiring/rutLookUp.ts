import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { ConfigurationError, type readConfig } from '../config.ts';
import { openPkcs12 } from '../crypto/pkcs12.ts';
import type { Orm } from '../db/orm.ts';
import type { AuthorityCall } from '../dgi/client.ts';
import { createRutLookUp } from '../dgi/rutLookUp.ts';
import type { DgiCredentials } from '../dgi/wsSecurity.ts';
import { DGI_VARIABLES, openDgiClient } from './dgiClient.ts';

/** Variables that configure the registry lookup. */
export const LOOK_UP_VARIABLES = [
  ...DGI_VARIABLES,
  'CFE_SERVICE_CERTIFICATE_FILE',
  'CFE_SERVICE_CERTIFICATE_PASSWORD',
] as const;

type LookUpConfig = ReturnType<typeof readConfig<(typeof LOOK_UP_VARIABLES)[number]>>;

/** Longest wait for the authority: a person is waiting for the answer. */
const MOST_SECONDS = 20;

/**
 * Opens the configured lookup in the authority's registry; `onCall` is called for every call. Throws
 * ConfigurationError for an unusable certificate.
 */
export async function openRutLookUp(
  config: LookUpConfig,
  orm: Orm,
  onCall: (call: AuthorityCall) => void,
): Promise<ReturnType<typeof createRutLookUp>> {
  const answerSeconds = Math.min(config.CFE_DGI_ANSWER_SECONDS, MOST_SECONDS);
  return createRutLookUp({
    client: openDgiClient(config, orm, { answerSeconds, onCall }),
    credentials: await serviceCredentials(config),
  });
}

/** Opens the operator's own certificate; null without one. Throws ConfigurationError for an unusable certificate. */
export async function serviceCredentials(
  config: ReturnType<typeof readConfig<'CFE_SERVICE_CERTIFICATE_FILE' | 'CFE_SERVICE_CERTIFICATE_PASSWORD'>>,
): Promise<DgiCredentials | null> {
  const { CFE_SERVICE_CERTIFICATE_FILE: file, CFE_SERVICE_CERTIFICATE_PASSWORD: password } = config;
  if (file === '') return null;
  const opened = await openPkcs12(readCertificateFile(file), password, 'service');
  if (!opened.ok) {
    throw new ConfigurationError(
      `CFE_SERVICE_CERTIFICATE_FILE names ${file}, which cannot be used (${opened.reason}); check CFE_SERVICE_CERTIFICATE_PASSWORD, too`,
    );
  }
  using identity = opened.identity;
  const { privateKeyDer, certificateDer } = identity;
  const privateKey = createPrivateKey({ key: privateKeyDer, format: 'der', type: 'pkcs8' });
  return { privateKey, certificateDer };
}

function readCertificateFile(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw new ConfigurationError(`CFE_SERVICE_CERTIFICATE_FILE names ${file}, which cannot be read`, {
      cause,
    });
  }
}
