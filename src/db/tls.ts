/** What DATABASE_URL says of TLS, as libpq means it: honoured or refused, never dropped. */
import { readFileSync } from 'node:fs';
import { type ConnectionOptions, createSecureContext, getCACertificates } from 'node:tls';
import { ConfigurationError } from '../config.ts';

/** The parameters that a database address may carry. */
const PARAMETERS = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey'] as const;
type Parameters = Partial<Record<(typeof PARAMETERS)[number], string>>;

/**
 * - require: encrypted, the server may be anybody; with `sslrootcert` as verify-ca, as libpq does.
 * - verify-ca: its certificate comes from `sslrootcert`.
 * - verify-full: and names the host of the address.
 */
const MODES = ['disable', 'require', 'verify-ca', 'verify-full'];

/** libpq's word for the authorities that the system trusts. */
const SYSTEM = 'system';

/**
 * Options for Node's TLS; undefined where the address asks for none. Throws ConfigurationError, without the address, for what
 * is unknown, contradicts itself, cannot be read, or would look safer than it is.
 */
export function databaseTls(databaseUrl: string): ConnectionOptions | false | undefined {
  const url = new URL(databaseUrl);
  const given = parametersOf(url);
  const { sslmode, sslrootcert } = given;
  if (sslmode === undefined) {
    const [orphan] = Object.keys(given);
    if (orphan !== undefined) refuse(`has ${orphan} without sslmode`);
    return undefined;
  }
  if (!MODES.includes(sslmode)) {
    refuse(`has sslmode=${sslmode}, which this service does not offer; it must be ${inWords(MODES)}`);
  }
  if (sslmode === 'disable') {
    const [, useless] = Object.keys(given);
    if (useless !== undefined) refuse(`has ${useless}, which means nothing with sslmode=disable`);
    return false;
  }
  if (sslmode !== 'require' && sslrootcert === undefined) {
    refuse(
      `has sslmode=${sslmode} without sslrootcert: a file with the certificate authorities of the server${sslmode === 'verify-full' ? ', or system' : ''}`,
    );
  }
  // Anybody gets a certificate from a public authority: without the host's name it says nothing.
  if (sslrootcert === SYSTEM && sslmode !== 'verify-full') {
    refuse('has sslrootcert=system, which means something with sslmode=verify-full only');
  }
  return {
    // Whose name is checked. Without it Node would take an address of digits for `localhost`.
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    ...authorities(sslrootcert),
    ...clientCertificate(given),
    ...(sslmode === 'verify-full' ? {} : { checkServerIdentity: () => undefined }),
  };
}

/** The address without its parameters, for drivers that have their own idea of them. */
export function stripParameters(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.search = '';
  return url.href;
}

function parametersOf(url: URL): Parameters {
  const given: Record<string, string> = {};
  for (const [name, value] of url.searchParams) {
    if (!PARAMETERS.some((known) => known === name)) {
      refuse(
        `has the parameter ${name}, which this service does not know; it may have ${inWords(PARAMETERS)}`,
      );
    }
    if (name in given) refuse(`has ${name} twice`);
    if (value === '') refuse(`has ${name} with nothing in it`);
    given[name] = value;
  }
  // In the order of PARAMETERS, sslmode first.
  return Object.fromEntries(PARAMETERS.flatMap((name) => (name in given ? [[name, given[name]]] : [])));
}

function authorities(sslrootcert: string | undefined): ConnectionOptions {
  if (sslrootcert === undefined) return { rejectUnauthorized: false };
  const ca =
    sslrootcert === SYSTEM ? getCACertificates('system').join('\n') : read('sslrootcert', sslrootcert);
  usable('sslrootcert', { ca });
  return { ca, rejectUnauthorized: true };
}

function clientCertificate({ sslcert, sslkey }: Parameters): ConnectionOptions {
  if (sslcert === undefined && sslkey === undefined) return {};
  if (sslcert === undefined || sslkey === undefined)
    return refuse('has one of sslcert and sslkey, which belong together');
  const pair = { cert: read('sslcert', sslcert), key: read('sslkey', sslkey) };
  usable('sslcert and sslkey', pair);
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

/** Refused at the start rather than at each connection. OpenSSL takes an authority's file without a certificate for none at all. */
function usable(parameter: string, options: { ca?: string; cert?: string; key?: string }): void {
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
