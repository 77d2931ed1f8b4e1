/** Finds the matching key and certificate in a .p12 with node:crypto. */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import forge from 'node-forge';
import { MOST_INTERMEDIATES } from './certificateAuthorities.ts';
import { type ContainerFailure, openContainer } from './pkcs12Container.ts';
import { hasRsaKey, isRsaKey } from './rsa.ts';

/** Real files have one key, its certificate, and a chain of two or three. */
const MOST_KEYS = 4;
const MOST_CERTIFICATES = 16;

/** Why a .p12 cannot be used. */
export type Pkcs12Failure = ContainerFailure | 'no_key' | 'no_certificate' | 'key_mismatch' | 'not_rsa';

/** A private RSA key and its certificate. */
export interface Identity {
  /** PKCS#8, DER. Secret: overwrite it with zeros when done. */
  readonly privateKeyDer: Buffer;
  readonly certificateDer: Buffer;
  /** Certificates of the issuers that the file contains, the nearest first, DER. */
  readonly intermediates: readonly Uint8Array[];
  /** All attributes of the subject: `C=UY, serialNumber=RUC…, CN=…`. */
  readonly subject: string;
  /** CN of the subject: the holder's name. */
  readonly commonName: string | null;
  /** serialNumber of the subject. */
  readonly serialNumber: string | null;
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly modulusBits: number;
  /** Whether the key usage allows signatures; without a key usage everything is allowed (RFC 5280, section 4.2.1.3). */
  readonly maySign: boolean;
}

export type OpenedPkcs12 =
  | { readonly ok: true; readonly identity: Identity }
  | { readonly ok: false; readonly reason: Pkcs12Failure };

/**
 * Opens a .p12 and returns its RSA key with the matching certificate that expires last. The file decides the running time,
 * which pkcs12.ts limits.
 */
export function openIdentity(file: Uint8Array, password: string): OpenedPkcs12 {
  const container = openContainer(file, password);
  return container.ok ? chooseIdentity(container.keys, container.certificates) : container;
}

function chooseIdentity(keyDers: Uint8Array[], certificateDers: Uint8Array[]): OpenedPkcs12 {
  if (keyDers.length > MOST_KEYS || certificateDers.length > MOST_CERTIFICATES)
    return { ok: false, reason: 'too_costly' };
  if (keyDers.length === 0) return { ok: false, reason: 'no_key' };
  if (certificateDers.length === 0) return { ok: false, reason: 'no_certificate' };
  const keys = keyDers.filter(isRsaKey).flatMap(readKey);
  if (keys.length === 0) return { ok: false, reason: 'not_rsa' };
  const certificates = certificateDers.filter(hasRsaKey).flatMap(readCertificate);
  const [best] = keys
    .flatMap((key) =>
      certificates
        .filter((certificate) => certificate.checkPrivateKey(key))
        .map((certificate) => ({ key, certificate })),
    )
    .sort((a, b) => b.certificate.validToDate.getTime() - a.certificate.validToDate.getTime());
  return best
    ? { ok: true, identity: identityOf(best.key, best.certificate, certificates) }
    : { ok: false, reason: 'key_mismatch' };
}

function identityOf(
  key: KeyObject,
  certificate: X509Certificate,
  others: readonly X509Certificate[],
): Identity {
  // Only the legacy object has the subject without escapes; the value of a repeated attribute is a list.
  const names: Readonly<Record<string, unknown>> = { ...certificate.toLegacyObject().subject };
  return {
    privateKeyDer: key.export({ type: 'pkcs8', format: 'der' }),
    certificateDer: certificate.raw,
    intermediates: issuersOf(certificate, others),
    subject: Object.entries(names)
      .flatMap(([name, value]) => [value].flat().map((one) => `${name}=${String(one)}`))
      .join(', '),
    commonName: singleValue(names['CN']),
    serialNumber: singleValue(names['serialNumber']),
    notBefore: certificate.validFromDate,
    notAfter: certificate.validToDate,
    modulusBits: key.asymmetricKeyDetails?.modulusLength ?? 0,
    maySign: maySign(certificate),
  };
}

/** Returns the issuers of a certificate that are among `others`, the nearest first, without a root. */
function issuersOf(certificate: X509Certificate, others: readonly X509Certificate[]): Uint8Array[] {
  const issuers: X509Certificate[] = [];
  for (let below: X509Certificate | undefined = certificate; below && issuers.length < MOST_INTERMEDIATES; ) {
    const current: X509Certificate = below;
    below = others.find(
      (one) =>
        one.ca &&
        one !== current &&
        !issuers.includes(one) &&
        one.subject !== one.issuer &&
        current.checkIssued(one) &&
        current.verify(one.publicKey),
    );
    if (below) issuers.push(below);
  }
  return issuers.map(({ raw }) => raw);
}

/** Uses forge because node:crypto does not expose the key usage. */
function maySign({ raw }: X509Certificate): boolean {
  const certificate = forge.pki.certificateFromAsn1(
    forge.asn1.fromDer(forge.util.createBuffer(raw.toString('latin1'))),
  );
  const usage = certificate.getExtension('keyUsage') as Readonly<Record<string, unknown>> | undefined | null;
  return !usage || usage['digitalSignature'] === true || usage['nonRepudiation'] === true;
}

/** Returns the value of an attribute; null if the attribute is repeated and so ambiguous. */
function singleValue(value: unknown): string | null {
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
