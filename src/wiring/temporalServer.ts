/** Where Temporal is, and how connections to it are secured. */
import { readFileSync } from 'node:fs';
import { ConfigurationError, type readConfig, type Variables } from '../config.ts';
import type { TemporalServer } from '../temporal.ts';

/** The names are those of Temporal's own programs. */
const SECURITY_VARIABLES = [
  'TEMPORAL_TLS',
  'TEMPORAL_TLS_SERVER_CA_CERT_PATH',
  'TEMPORAL_TLS_SERVER_NAME',
  'TEMPORAL_TLS_CLIENT_CERT_PATH',
  'TEMPORAL_TLS_CLIENT_KEY_PATH',
  'TEMPORAL_API_KEY',
] as const;

/** What a connection to Temporal is made from. */
export const TEMPORAL_SERVER_VARIABLES = ['TEMPORAL_ADDRESS', ...SECURITY_VARIABLES] as const;

type Config = ReturnType<typeof readConfig<(typeof TEMPORAL_SERVER_VARIABLES)[number]>>;

/**
 * The server as it is configured. Any of the settings for TLS, and an API key, turn TLS on. Throws ConfigurationError
 * where they contradict one another or a file cannot be read.
 */
export function temporalServerOf(config: Config): TemporalServer {
  const { TEMPORAL_ADDRESS: address, TEMPORAL_TLS: wanted, TEMPORAL_API_KEY: apiKey } = config;
  const asks = SECURITY_VARIABLES.find((name) => name !== 'TEMPORAL_TLS' && config[name] !== '');
  if (wanted === 'false' && asks !== undefined) {
    throw new ConfigurationError(`${asks} needs TLS, and TEMPORAL_TLS is false`);
  }
  if (wanted !== 'true' && asks === undefined) return { address };
  return { address, tls: tlsOf(config), ...(apiKey === '' ? {} : { apiKey }) };
}

/** The variables without those that secure connections to Temporal: for a server of our own, which has no TLS. */
export function withoutTemporalSecurity(variables: Variables): Variables {
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
    ...(ca === '' ? {} : { serverRootCACertificate: read('TEMPORAL_TLS_SERVER_CA_CERT_PATH', ca) }),
    ...(name === '' ? {} : { serverNameOverride: name }),
    ...(certificate === ''
      ? {}
      : {
          clientCertPair: {
            crt: read('TEMPORAL_TLS_CLIENT_CERT_PATH', certificate),
            key: read('TEMPORAL_TLS_CLIENT_KEY_PATH', key),
          },
        }),
  };
}

function read(name: string, path: string): Buffer {
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
