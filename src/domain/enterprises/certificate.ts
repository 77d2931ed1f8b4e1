import type { Fault } from '../../errors.ts';
import type { RuleRow } from '../requests/bodyRules.ts';

export type CertificateStatus = 'NONE' | 'VALID' | 'EXPIRED' | 'REVOKED';

/** Returns the status of a certificate at `now` (docs/contract.md#certificate); NONE without one. */
export function certificateStatus(
  certificate: { readonly notAfter: Date; readonly revoked: boolean } | null | undefined,
  now: Date,
): CertificateStatus {
  if (!certificate) return 'NONE';
  if (certificate.revoked) return 'REVOKED';
  return now <= certificate.notAfter ? 'VALID' : 'EXPIRED';
}

/** Shorter RSA keys are refused (docs/contract.md#certificate). */
const SMALLEST_RSA_BITS = 2048;

/** The rules on uploading a certificate, with the path of the field in the body. */
export const CERTIFICATE_RULES = {
  'certificate.not_pkcs12': {
    path: '/cert_b64',
    checks: 'The file is a .p12 (PKCS#12) with one certificate and its key.',
    source: 'docs/contract.md#certificate',
    example: 'The file must be a .p12 with a certificate and its private key.',
  },
  'certificate.wrong_password': {
    path: '/password',
    checks: 'The password opens the file.',
    source: 'docs/contract.md#certificate',
    example: 'The password does not open the certificate file.',
  },
  'certificate.key_mismatch': {
    path: '/cert_b64',
    checks: 'The private key belongs to the certificate.',
    source: 'docs/contract.md#certificate',
    example: 'The private key in the file must belong to its certificate.',
  },
  'certificate.not_rsa': {
    path: '/cert_b64',
    checks: 'The key is RSA, of at most 8192 bits.',
    source: 'docs/contract.md#certificate; docs/authority/signatures.md#receipts',
    example: 'The certificate must hold an RSA key of at most 8192 bits, found another kind.',
  },
  'certificate.rsa_too_short': {
    path: '/cert_b64',
    checks: `The RSA key has at least ${SMALLEST_RSA_BITS} bits.`,
    source: 'docs/contract.md#certificate',
    example: 'The RSA key must have at least 2048 bits, found 1024.',
  },
  'certificate.other_rut': {
    path: '/cert_b64',
    checks: 'The serialNumber of the subject is “RUC” and the RUT of the enterprise.',
    source: 'docs/authority/signatures.md#certificates',
    example: 'The serialNumber of the subject must be RUC219999830019, found RUC219999820013.',
  },
  'certificate.key_usage': {
    path: '/cert_b64',
    checks: 'The key usage, if present, allows digitalSignature or nonRepudiation.',
    source: 'docs/contract.md#certificate; RFC 5280, section 4.2.1.3',
    example: 'The key usage of the certificate must allow signatures (digitalSignature or nonRepudiation).',
  },
  'certificate.unknown_issuer': {
    path: '/cert_b64',
    checks: 'A configured certification authority issued the certificate.',
    source: 'docs/contract.md#certificate',
    example: 'The certificate must be issued by an accredited certification authority of Uruguay.',
  },
  'certificate.revoked': {
    path: '/cert_b64',
    checks: 'The certificate is not revoked, as far as its authority answers.',
    source: 'docs/contract.md#certificate; Formato CFE v25.2, zone I',
    example: 'The certificate was revoked by its certification authority.',
  },
  'certificate.expired': {
    path: '/cert_b64',
    checks: 'The certificate has not expired.',
    source: 'docs/contract.md#certificate; Formato CFE v25.2, zone I',
    example: 'The certificate expired at 2026-01-31T12:00:00Z.',
  },
  'certificate.not_yet_valid': {
    path: '/cert_b64',
    checks: 'The certificate is already valid.',
    source: 'docs/contract.md#certificate; Formato CFE v25.2, zone I',
    example: 'The certificate is valid only from 2026-03-01T12:00:00Z.',
  },
} as const satisfies Record<string, RuleRow & { path: string }>;
export type CertificateRule = keyof typeof CERTIFICATE_RULES;

/** The facts about the certificate of an opened .p12 file. */
export interface CertificateFacts {
  /** The serialNumber attribute of the subject; null without one. */
  readonly subjectSerialNumber: string | null;
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** Length of the RSA modulus; null for another kind of key. */
  readonly rsaBits: number | null;
  readonly keyMatches: boolean;
  /** Whether its key usage allows signatures. */
  readonly maySign: boolean;
  /** Whether a configured certification authority issued it. */
  readonly isKnown: boolean;
}

/** Creates the fault of a rule; its message defaults to the rule's example. */
export function certificateFault(
  code: CertificateRule,
  message: string = CERTIFICATE_RULES[code].example,
): Fault {
  return { path: CERTIFICATE_RULES[code].path, code, message };
}

/** Returns all faults of a certificate for the enterprise `rut` at `now`; empty if it may be used. */
export function certificateFaults(
  facts: CertificateFacts,
  { rut, now }: { rut: string; now: Date },
): Fault[] {
  const faults: Fault[] = [];
  if (!facts.keyMatches) faults.push(certificateFault('certificate.key_mismatch'));
  if (facts.rsaBits === null) faults.push(certificateFault('certificate.not_rsa'));
  else if (facts.rsaBits < SMALLEST_RSA_BITS) {
    const message = `The RSA key must have at least ${SMALLEST_RSA_BITS} bits, found ${facts.rsaBits}.`;
    faults.push(certificateFault('certificate.rsa_too_short', message));
  }
  if (facts.subjectSerialNumber !== `RUC${rut}`) {
    const message = `The serialNumber of the subject must be RUC${rut}, found ${redactSerialNumber(facts.subjectSerialNumber)}.`;
    faults.push(certificateFault('certificate.other_rut', message));
  }
  if (!facts.maySign) faults.push(certificateFault('certificate.key_usage'));
  if (!facts.isKnown) faults.push(certificateFault('certificate.unknown_issuer'));
  if (now > facts.notAfter) {
    faults.push(
      certificateFault('certificate.expired', `The certificate expired at ${moment(facts.notAfter)}.`),
    );
  } else if (now < facts.notBefore) {
    const message = `The certificate is valid only from ${moment(facts.notBefore)}.`;
    faults.push(certificateFault('certificate.not_yet_valid', message));
  }
  return faults;
}

const moment = (instant: Date) => `${instant.toISOString().slice(0, 19)}Z`;

/** Hides the serialNumber of a personal certificate, which identifies a person. */
function redactSerialNumber(serialNumber: string | null): string {
  if (serialNumber === null) return 'none';
  return /^RUC[0-9]{12}$/.test(serialNumber) ? serialNumber : 'another';
}
