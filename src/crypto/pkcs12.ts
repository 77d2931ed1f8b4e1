/** Opening of .p12 files (PKCS#12), decisions.md §4: the container by node-forge, everything else by node:crypto. */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import type { Container, ContainerFailure } from './pkcs12Container.ts';

/** Files with a key and a chain of certificates have 2 to 10 KiB. */
const MOST_BYTES = 64 * 1024;
/** A million rounds take a few seconds; what takes longer has hidden its cost inside its encrypted part. */
const LONGEST_MILLISECONDS = 10_000;
/** Threads at a time: each may take a core. */
const MOST_THREADS = 2;

/** Why a .p12 cannot be used. */
export type Pkcs12Failure = ContainerFailure | 'no_key' | 'no_certificate' | 'key_mismatch' | 'not_rsa';

/** A private RSA key and its certificate. */
export interface Identity {
  /** PKCS#8, DER. Secret: overwrite it with zeros when done. */
  readonly privateKeyDer: Buffer;
  readonly certificateDer: Buffer;
  /** The whole subject, one attribute after the other: `C=UY, serialNumber=RUC…, CN=…`. */
  readonly subject: string;
  /** CN of the subject: the holder's name. */
  readonly commonName: string | null;
  /** serialNumber of the subject. */
  readonly serialNumber: string | null;
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly modulusBits: number;
}

export type OpenedPkcs12 =
  | { readonly ok: true; readonly identity: Identity }
  | { readonly ok: false; readonly reason: Pkcs12Failure };

/**
 * Opens a .p12: its RSA key with the certificate that belongs to it; of several such certificates the one that lasts
 * longest. Dates and key length are the caller's to judge.
 */
export async function openPkcs12(file: Uint8Array, password: string): Promise<OpenedPkcs12> {
  if (file.length > MOST_BYTES) return { ok: false, reason: 'not_pkcs12' };
  const container = await inTurn(() => openInThread(file, password));
  if (!container.ok) return container;
  const opened = choose(container.keys, container.certificates);
  for (const key of container.keys) key.fill(0);
  return opened;
}

function choose(keyDers: Uint8Array[], certificateDers: Uint8Array[]): OpenedPkcs12 {
  const keys = keyDers.flatMap(readKey);
  const certificates = certificateDers.flatMap(readCertificate);
  if (keys.length === 0) return { ok: false, reason: 'no_key' };
  if (certificates.length === 0) return { ok: false, reason: 'no_certificate' };
  const pairs = keys.flatMap((key) =>
    certificates
      .filter((certificate) => certificate.checkPrivateKey(key))
      .map((certificate) => ({ key, certificate })),
  );
  if (pairs.length === 0) return { ok: false, reason: 'key_mismatch' };
  const [best] = pairs
    .filter(({ key }) => key.asymmetricKeyType === 'rsa')
    .sort((a, b) => b.certificate.validToDate.getTime() - a.certificate.validToDate.getTime());
  return best
    ? { ok: true, identity: identityOf(best.key, best.certificate) }
    : { ok: false, reason: 'not_rsa' };
}

function identityOf(key: KeyObject, certificate: X509Certificate): Identity {
  // The only reading of the subject that undoes its escapes; an attribute given several times is a list.
  const names: Readonly<Record<string, unknown>> = { ...certificate.toLegacyObject().subject };
  return {
    privateKeyDer: key.export({ type: 'pkcs8', format: 'der' }),
    certificateDer: certificate.raw,
    subject: Object.entries(names)
      .flatMap(([name, value]) => [value].flat().map((one) => `${name}=${String(one)}`))
      .join(', '),
    commonName: single(names['CN']),
    serialNumber: single(names['serialNumber']),
    notBefore: certificate.validFromDate,
    notAfter: certificate.validToDate,
    modulusBits: key.asymmetricKeyDetails?.modulusLength ?? 0,
  };
}

/** The attribute's text; given several times, which one counts is nobody's to say. */
function single(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function readKey(der: Uint8Array): KeyObject[] {
  try {
    return [createPrivateKey({ key: Buffer.from(der), format: 'der', type: 'pkcs8' })];
  } catch {
    return [];
  }
}

function readCertificate(der: Uint8Array): X509Certificate[] {
  try {
    return [new X509Certificate(der)];
  } catch {
    return [];
  }
}

async function openInThread(file: Uint8Array, password: string): Promise<Container> {
  const worker = new Worker(new URL('./pkcs12Worker.ts', import.meta.url), {
    workerData: { file, password },
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: 128 },
  });
  const { promise, resolve } = Promise.withResolvers<Container>();
  const timer = setTimeout(() => resolve({ ok: false, reason: 'too_costly' }), LONGEST_MILLISECONDS);
  worker.once('message', resolve);
  // A file that exhausts the memory of its thread, or brings forge down, is none that we could use.
  worker.once('error', () => resolve({ ok: false, reason: 'not_pkcs12' }));
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}

let places = MOST_THREADS;
const waiting: (() => void)[] = [];

/** Runs `task` as soon as fewer than MOST_THREADS others run, first come first served. */
async function inTurn<T>(task: () => Promise<T>): Promise<T> {
  if (places > 0) {
    places -= 1;
  } else {
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting.push(resolve);
    await promise;
  }
  try {
    return await task();
  } finally {
    const next = waiting.shift();
    if (next) next();
    else places += 1;
  }
}
