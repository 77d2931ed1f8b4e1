import { X509Certificate } from 'node:crypto';
import { hasRsaKey } from './rsa.ts';

/** The RUC in a certificate's subject (serialNumber `RUC` and 12 digits); undefined without one. */
export const rucOf = (certificate: X509Certificate): string | undefined =>
  /^serialNumber=RUC(\d{12})$/m.exec(certificate.subject)?.[1];

/** SHA-256 of the DER in lower-case hex: how the configured certificates of the authority are identified. */
export const fingerprintOf = (certificate: X509Certificate): string =>
  certificate.fingerprint256.replaceAll(':', '').toLowerCase();

const PEM = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

/** The certificates of a PEM file, each as PEM, unread; what stands between them does not count. */
export const splitPem = (text: string): string[] => text.match(PEM) ?? [];

/** Whether a moment lies inside a certificate's dates. */
export const isValidAt = (certificate: X509Certificate, moment: Date): boolean =>
  certificate.validFromDate <= moment && moment <= certificate.validToDate;

/** The certificate in base64 as XML carries it (blanks allowed); undefined where it is not one with an RSA key (rsa.ts). */
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
