/** Temporal's address, and the security of connections to it. */
import { readFileSync } from 'node:fs';
import { ConfigurationError, type readConfig, type Variables } from '../../config.ts';
import type { TemporalServer } from '../../temporal.ts';

/** Variables with the names that Temporal's own programs use. */
const SECURITY_VARIABLES = [
  'TEMPORAL_TLS',
  'TEMPORAL_TLS_SERVER_CA_CERT_PATH',
  'TEMPORAL_TLS_SERVER_NAME',
  'TEMPORAL_TLS_CLIENT_CERT_PATH',
  'TEMPORAL_TLS_CLIENT_KEY_PATH',
  'TEMPORAL_API_KEY',
] as const;

/** Variables for a connection to Temporal. */
export const TEMPORAL_SERVER_VARIABLES = ['TEMPORAL_ADDRESS', ...SECURITY_VARIABLES] as const;

type Config = ReturnType<typeof readConfig<(typeof TEMPORAL_SERVER_VARIABLES)[number]>>;

/**
 * Returns the configured server. An API key or any TLS setting turns TLS on. Throws ConfigurationError for
 * contradictory settings or an unreadable file.
 */
export function temporalServerOf(config: Config): TemporalServer {
  const { TEMPORAL_ADDRESS: address, TEMPORAL_TLS: isTls, TEMPORAL_API_KEY: apiKey } = config;
  const needsTls = SECURITY_VARIABLES.find((name) => name !== 'TEMPORAL_TLS' && config[name] !== '');
  if (isTls === 'false' && needsTls !== undefined) {
    throw new ConfigurationError(`${needsTls} needs TLS, but TEMPORAL_TLS is false`);
  }
  if (isTls !== 'true' && needsTls === undefined) return { address };
  return { address, tls: tlsOf(config), ...(apiKey === '' ? {} : { apiKey }) };
}

/** Returns the variables without those for secure connections: the local server has no TLS. */
export function removeTemporalSecurity(variables: Variables): Variables {
  const names = new Set<string>(SECURITY_VARIABLES.flatMap((name) => [name, `${name}_FILE`]));
  return Object.fromEntries(Object.entries(variables).filter(([name]) => !names.has(name)));
}

function tlsOf(config: Config): TemporalServer['tls'] {
  const {
    TEMPORAL_TLS_SERVER_CA_CERT_PATH: ca,
    TEMPORAL_TLS_SERVER_NAME: name,
    TEMPORAL_TLS_CLIENT_CERT_PATH: certificate,
    TEMPORAL_TLS_CLIENT_KEY_PATH: key,
  } = config;
  if ((certificate === '') !== (key === '')) {
    const [set, missing] =
      key === '' ? ['TEMPORAL_TLS_CLIENT_CERT_PATH', 'KEY'] : ['TEMPORAL_TLS_CLIENT_KEY_PATH', 'CERT'];
    throw new ConfigurationError(`${set} is set without TEMPORAL_TLS_CLIENT_${missing}_PATH`);
  }
  return {
    ...(ca === '' ? {} : { serverRootCACertificate: readPem('TEMPORAL_TLS_SERVER_CA_CERT_PATH', ca) }),
    ...(name === '' ? {} : { serverNameOverride: name }),
    ...(certificate === ''
      ? {}
      : {
          clientCertPair: {
            crt: readPem('TEMPORAL_TLS_CLIENT_CERT_PATH', certificate),
            key: readPem('TEMPORAL_TLS_CLIENT_KEY_PATH', key),
          },
        }),
  };
}

function readPem(name: string, path: string): Buffer {
  let content: Buffer;
  try {
    content = readFileSync(path);
  } catch (cause) {
    const { code = 'unknown' } = cause as NodeJS.ErrnoException;
    throw new ConfigurationError(`${name} names ${path}, which cannot be read (${code})`, { cause });
  }
  if (!content.includes('-----BEGIN '))
    throw new ConfigurationError(`${name} names ${path}, which holds no PEM`);
  return content;
}
