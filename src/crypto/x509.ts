import { X509Certificate } from 'node:crypto';
import { hasRsaKey } from './rsa.ts';

/** Returns the RUC in a certificate's subject (serialNumber `RUC` and 12 digits); undefined without one. */
export const rucOf = (certificate: X509Certificate): string | undefined =>
  /^serialNumber=RUC(\d{12})$/m.exec(certificate.subject)?.[1];

/** Returns the SHA-256 of the DER in lower-case hex, which identifies configured certificates of the authority. */
export const fingerprintOf = (certificate: X509Certificate): string =>
  certificate.fingerprint256.replaceAll(':', '').toLowerCase();

const PEM = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

/** Returns the certificates of a PEM file as PEM, unparsed, without any text between them. */
export const splitPem = (text: string): string[] => text.match(PEM) ?? [];

/** Returns the certificates of a PEM file, DER. */
export const readPemCertificates = (text: string): Buffer[] =>
  splitPem(text).map((pem) =>
    Buffer.from(pem.replace(/-----(?:BEGIN|END) CERTIFICATE-----|\s/g, ''), 'base64'),
  );

/** True when a certificate is valid at a moment. */
export const isValidAt = (certificate: X509Certificate, moment: Date): boolean =>
  certificate.validFromDate <= moment && moment <= certificate.validToDate;

/** Parses a base64 certificate from XML (blanks allowed); undefined if malformed or without an RSA key (rsa.ts). */
export function parseRsaCertificate(base64: string): X509Certificate | undefined {
  const compact = base64.replace(/\s+/g, '');
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(compact)) return undefined;
  const der = Buffer.from(compact, 'base64');
  if (!hasRsaKey(der)) return undefined;
  try {
    return new X509Certificate(der);
  } catch {
    return undefined;
  }
}
