import { X509Certificate } from 'node:crypto';

/** The certificate in a base64 string (line breaks allowed); null when it cannot be read. */
export function certificateFrom(base64: string): X509Certificate | null {
  const text = base64.replace(/\s+/g, '');
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return null;
  try {
    return new X509Certificate(Buffer.from(text, 'base64'));
  } catch {
    return null;
  }
}

/** The RUC of a certificate: the 12 digits of `RUC…` in its subject's serialNumber; null without one. */
export const rucOf = (certificate: X509Certificate): string | null =>
  /^serialNumber=RUC(\d{12})$/m.exec(certificate.subject)?.[1] ?? null;

/** Whether the certificate is valid at that moment. */
export const isValidAt = (certificate: X509Certificate, moment: Date): boolean =>
  certificate.validFromDate <= moment && moment <= certificate.validToDate;

/** A certificate's serial number as XML signatures write it: decimal. */
export const decimalSerial = (certificate: X509Certificate): string =>
  BigInt(`0x${certificate.serialNumber}`).toString();

/** A certificate's issuer as the official samples write it: `CN=…, O=…, C=UY`, the reverse of the order inside it. */
export const issuerName = (certificate: X509Certificate): string =>
  certificate.issuer.split('\n').toReversed().join(', ');
