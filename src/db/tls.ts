/** TLS options of DATABASE_URL, with libpq's meaning: applied or rejected, never ignored. */
import { readFileSync } from 'node:fs';
import { type ConnectionOptions, createSecureContext, getCACertificates } from 'node:tls';
import { ConfigurationError } from '../config.ts';

/** The parameters that a database address may have. */
const PARAMETERS = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey'] as const;
type Parameters = Partial<Record<(typeof PARAMETERS)[number], string>>;

/**
 * - require: encrypted, any server; with `sslrootcert` like verify-ca, as in libpq.
 * - verify-ca: an authority in `sslrootcert` issued the server's certificate.
 * - verify-full: the certificate also contains the host of the address.
 */
const MODES = ['disable', 'require', 'verify-ca', 'verify-full'];

/** libpq's word for the authorities that the system trusts. */
const SYSTEM = 'system';

/**
 * Returns options for Node's TLS; undefined if the address asks for none. Throws ConfigurationError, without the
 * address, for options that are unknown, contradictory, unreadable, or less safe than they look.
 */
export function databaseTls(databaseUrl: string): ConnectionOptions | false | undefined {
  const url = new URL(databaseUrl);
  const parameters = readParameters(url);
  const { sslmode, sslrootcert } = parameters;
  if (sslmode === undefined) {
    const [orphan] = Object.keys(parameters);
    if (orphan !== undefined) refuse(`has ${orphan} without sslmode`);
    return undefined;
  }
  if (!MODES.includes(sslmode)) {
    refuse(`has sslmode=${sslmode}, which this service does not offer; it must be ${inWords(MODES)}`);
  }
  if (sslmode === 'disable') {
    const [, useless] = Object.keys(parameters);
    if (useless !== undefined) refuse(`has ${useless}, which means nothing with sslmode=disable`);
    return false;
  }
  if (sslmode !== 'require' && sslrootcert === undefined) {
    refuse(
      `has sslmode=${sslmode} without sslrootcert: a file with the certificate authorities of the server${sslmode === 'verify-full' ? ', or system' : ''}`,
    );
  }
  // Public authorities issue certificates to anyone: without a check of the host they prove nothing.
  if (sslrootcert === SYSTEM && sslmode !== 'verify-full') {
    refuse('has sslrootcert=system, which means something with sslmode=verify-full only');
  }
  return {
    // The host to check. Without it Node would take a numeric address for `localhost`.
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    ...authorityOptions(sslrootcert),
    ...clientCertificate(parameters),
    ...(sslmode === 'verify-full' ? {} : { checkServerIdentity: () => undefined }),
  };
}

/** Returns the address without its parameters, which drivers interpret differently. */
export function stripParameters(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.search = '';
  return url.href;
}

function readParameters(url: URL): Parameters {
  const parameters: Record<string, string> = {};
  for (const [name, value] of url.searchParams) {
    if (!PARAMETERS.some((known) => known === name)) {
      refuse(
        `has the parameter ${name}, which this service does not know; it may have ${inWords(PARAMETERS)}`,
      );
    }
    if (name in parameters) refuse(`has ${name} twice`);
    if (value === '') refuse(`has ${name} with nothing in it`);
    parameters[name] = value;
  }
  // In the order of PARAMETERS, sslmode first.
  return Object.fromEntries(
    PARAMETERS.flatMap((name) => (name in parameters ? [[name, parameters[name]]] : [])),
  );
}

function authorityOptions(sslrootcert: string | undefined): ConnectionOptions {
  if (sslrootcert === undefined) return { rejectUnauthorized: false };
  const ca =
    sslrootcert === SYSTEM ? getCACertificates('system').join('\n') : read('sslrootcert', sslrootcert);
  requireUsable('sslrootcert', { ca });
  return { ca, rejectUnauthorized: true };
}

function clientCertificate({ sslcert, sslkey }: Parameters): ConnectionOptions {
  if (sslcert === undefined && sslkey === undefined) return {};
  if (sslcert === undefined || sslkey === undefined)
    return refuse('has one of sslcert and sslkey, which belong together');
  const pair = { cert: read('sslcert', sslcert), key: read('sslkey', sslkey) };
  requireUsable('sslcert and sslkey', pair);
  return pair;
}

function read(parameter: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    const { code = 'unknown' } = cause as NodeJS.ErrnoException;
    throw new ConfigurationError(
      `DATABASE_URL has ${parameter}=${path}, a file that cannot be read (${code})`,
      { cause },
    );
  }
}

/**
 * Fails at start-up instead of at each connection. OpenSSL takes an authority file without a certificate for an empty
 * one.
 */
function requireUsable(parameter: string, options: { ca?: string; cert?: string; key?: string }): void {
  const certificates = options.ca ?? options.cert ?? '';
  if (!certificates.includes('-----BEGIN CERTIFICATE-----')) {
    refuse(`has ${parameter}, which holds no certificate in PEM`);
  }
  try {
    createSecureContext(options);
  } catch (cause) {
    throw new ConfigurationError(
      `DATABASE_URL has ${parameter}, which cannot be used (${(cause as NodeJS.ErrnoException).code ?? 'unknown'})`,
      { cause },
    );
  }
}

const inWords = (words: readonly string[]): string =>
  `${words.slice(0, -1).join(', ')} or ${String(words.at(-1))}`;

function refuse(what: string): never {
  throw new ConfigurationError(`DATABASE_URL ${what}`);
}
