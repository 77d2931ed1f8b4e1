import { randomUUID } from 'node:crypto';
import { type CertificateAuthorities, isCertified } from '../crypto/certificateAuthorities.ts';
import { type Identity, type OwnedIdentity, openPkcs12, type Pkcs12Failure } from '../crypto/pkcs12.ts';
import type { Sealer } from '../crypto/sealed.ts';
import { replaceCertificate } from '../db/certificates.ts';
import type { Certificate } from '../db/entities/enterprises.ts';
import { certificateFault, certificateFaults } from '../domain/certificate.ts';
import type { Environment } from '../domain/cfeTypes.ts';
import { type Fault, invalidInput } from '../errors.ts';
import { changeEnterprise } from './steps/changeEnterprise.ts';
import type { CommandDeps } from './steps/deps.ts';
import { tellFactsChanged } from './steps/enterpriseWorkflow.ts';

/** Faults of a file that does not open, by why it does not. */
const UNOPENED: Readonly<Record<Pkcs12Failure, Fault>> = {
  not_pkcs12: certificateFault('certificate.not_pkcs12'),
  too_costly: certificateFault(
    'certificate.not_pkcs12',
    'The file takes too long to open (too many rounds of key derivation, or more than 4 keys or 16 certificates); export it again.',
  ),
  wrong_password: certificateFault('certificate.wrong_password'),
  no_key: certificateFault('certificate.not_pkcs12', 'The file has no private key.'),
  no_certificate: certificateFault('certificate.not_pkcs12', 'The file has no certificate.'),
  key_mismatch: certificateFault('certificate.key_mismatch'),
  not_rsa: certificateFault('certificate.not_rsa'),
};

/** What taking certificates needs beside what all commands do. */
export interface UploadCertificateDeps extends CommandDeps {
  /** Seals private keys before they are stored. */
  readonly sealer: Sealer;
  /** Who may certify an enterprise in production; test certificates come from an operator's test kit. */
  readonly certificateAuthorities: CertificateAuthorities;
}

/** Opens a .p12 and stores its certificate, one file of an enterprise at a time. */
export async function uploadCertificate(
  deps: UploadCertificateDeps,
  input: { rut: string; environment?: Environment; file: Uint8Array; password: string },
): Promise<Certificate> {
  using identity = await openCertificate({ ...input, owner: input.rut });
  // Awaited here: what is disposed of at the end must be stored by then.
  return await storeCertificate(deps, input, identity);
}

/**
 * Opens the .p12 of a certificate for an account, `owner`. That takes up to seconds, so no transaction may be open.
 * Refuses a file that does not open (INVALID_INPUT), and one too many at a time (UNAVAILABLE).
 */
export async function openCertificate(input: {
  owner: string;
  file: Uint8Array;
  password: string;
}): Promise<OwnedIdentity> {
  const opened = await openPkcs12(input.file, input.password, input.owner);
  if (!opened.ok) throw invalidInput([UNOPENED[opened.reason]]);
  return opened.identity;
}

/**
 * Makes what was opened the enterprise's certificate: it signs from now on, the one before stays for the record. Only
 * the private key is kept, sealed. Refuses with every fault of the certificate at once (INVALID_INPUT).
 */
export function storeCertificate(
  deps: UploadCertificateDeps,
  { rut, environment = 'production' }: { rut: string; environment?: Environment },
  identity: Identity,
): Promise<Certificate> {
  return changeEnterprise(deps, rut, { action: 'certificate.upload' }, async (em, _enterprise, now) => {
    const {
      serialNumber: subjectSerialNumber,
      modulusBits: rsaBits,
      notBefore,
      notAfter,
      maySign,
    } = identity;
    const { certificateDer } = identity;
    const isKnown =
      environment === 'sandbox' || isCertified(certificateDer, deps.certificateAuthorities, now);
    const facts = { subjectSerialNumber, rsaBits, notBefore, notAfter, keyMatches: true, maySign, isKnown };
    const faults = certificateFaults(facts, { rut, now });
    if (faults.length > 0) throw invalidInput(faults);
    const id = randomUUID();
    const certificate = await replaceCertificate(em, {
      id,
      rut,
      environment,
      subject: identity.commonName ?? identity.subject,
      notBefore: new Date(notBefore),
      notAfter: new Date(notAfter),
      certificate: certificateDer,
      sealedKey: deps.sealer.seal(identity.privateKeyDer, { purpose: 'certificate-key', rut, rowId: id }),
      createdAt: now,
    });
    if (environment === 'production') tellFactsChanged(em, rut, now);
    return certificate;
  });
}
