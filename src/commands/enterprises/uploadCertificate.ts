import { randomUUID, X509Certificate } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type CertificateAuthorities,
  certifiedChain,
  isCertified,
} from '../../crypto/certificateAuthorities.ts';
import { type Identity, type OwnedIdentity, openPkcs12, type Pkcs12Failure } from '../../crypto/pkcs12.ts';
import type { LookUpRevocation } from '../../crypto/revocation.ts';
import type { Sealer } from '../../crypto/sealed.ts';
import { replaceCertificate, wasRevoked } from '../../db/enterprises/certificates.ts';
import type { Certificate } from '../../db/entities/enterprises.ts';
import { openCaeStartMessages } from '../../db/numbers/numbers.ts';
import { enqueue } from '../../db/outbox.ts';
import { certificateFault, certificateFaults } from '../../domain/enterprises/certificate.ts';
import type { Environment } from '../../domain/receipts/cfeTypes.ts';
import { type Fault, invalidInput } from '../../errors.ts';
import { changeEnterprise } from '../steps/changeEnterprise.ts';
import type { CommandDeps } from '../steps/deps.ts';
import { signalFactsChanged } from '../steps/enterpriseWorkflow.ts';

const OPENING_FAULTS: Readonly<Record<Pkcs12Failure, Fault>> = {
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

/** Dependencies of storing certificates, beyond those of all commands. */
export interface UploadCertificateDeps extends CommandDeps {
  /** Encrypts private keys before they are stored. */
  readonly sealer: Sealer;
  /**
   * Issuers of certificates that are valid in production; test certificates come from an operator's test kit.
   */
  readonly certificateAuthorities: CertificateAuthorities;
  /** Asks whether production certificates are revoked; if omitted, no certificate counts as revoked. */
  readonly lookUpRevocation?: LookUpRevocation;
}

/** Opens a .p12 and stores its certificate, one file per enterprise at a time. */
export async function uploadCertificate(
  deps: UploadCertificateDeps,
  input: { rut: string; environment?: Environment; file: Uint8Array; password: string },
): Promise<Certificate> {
  using identity = await openCertificate(deps, { ...input, owner: input.rut });
  // `await` keeps the identity from being disposed of before it is stored.
  return await storeCertificate(deps, input, identity);
}

/** Dependencies of opening a .p12. */
type OpenDeps = Pick<UploadCertificateDeps, 'clock' | 'certificateAuthorities' | 'lookUpRevocation'>;

/**
 * Opens the .p12 of an account, `owner`, and asks whether its certificate is revoked. May take seconds, so no transaction
 * may be open. Throws INVALID_INPUT for an unusable file or a revoked certificate, UNAVAILABLE when too many files wait.
 */
export async function openCertificate(
  deps: OpenDeps,
  input: { owner: string; environment?: Environment; file: Uint8Array; password: string },
): Promise<OwnedIdentity> {
  const opened = await openPkcs12(input.file, input.password, input.owner);
  if (!opened.ok) throw invalidInput([OPENING_FAULTS[opened.reason]]);
  const { identity } = opened;
  try {
    if (input.environment !== 'sandbox' && (await isRevoked(deps, identity, input.owner)))
      throw invalidInput([certificateFault('certificate.revoked')]);
    await passFirstSecond(deps, identity);
    return identity;
  } catch (error) {
    identity[Symbol.dispose]();
    throw error;
  }
}

/** Returns whether a certificate is revoked; asks only at addresses in certificates of configured authorities. */
async function isRevoked(
  { certificateAuthorities: authorities, lookUpRevocation, clock }: OpenDeps,
  { certificateDer, intermediates }: Identity,
  owner: string,
): Promise<boolean> {
  if (authorities === 'any' || !lookUpRevocation) return false;
  const chain = certifiedChain(certificateDer, intermediates, { authorities, at: clock() });
  return chain !== null && (await lookUpRevocation([chain], owner)).includes('revoked');
}

/**
 * Waits until the first second of a certificate has passed, because the authority refuses a signature of that second (S03).
 * Until the new certificate is stored, the previous one signs.
 */
async function passFirstSecond({ clock }: Pick<OpenDeps, 'clock'>, { notBefore }: Identity): Promise<void> {
  const since = clock().getTime() - notBefore.getTime();
  if (since >= 0 && since < 1_000) await sleep(1_001 - since);
}

/**
 * Makes this the enterprise's certificate from now on; the previous one stays for the record. Only the
 * encrypted private key is stored. Throws INVALID_INPUT with all faults of the certificate.
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
      environment === 'sandbox' ||
      isCertified(certificateDer, deps.certificateAuthorities, now, identity.intermediates);
    const facts = { subjectSerialNumber, rsaBits, notBefore, notAfter, keyMatches: true, maySign, isKnown };
    const faults = certificateFaults(facts, { rut, now });
    if (faults.length > 0) throw invalidInput(faults);
    if (await wasRevoked(em, { rut, environment, certificate: certificateDer }))
      throw invalidInput([certificateFault('certificate.revoked')]);
    const id = randomUUID();
    const certificate = await replaceCertificate(em, {
      id,
      rut,
      environment,
      subject: identity.commonName ?? identity.subject,
      notBefore: new Date(notBefore),
      notAfter: new Date(notAfter),
      certificate: certificateDer,
      intermediates: identity.intermediates.map((der) => new X509Certificate(der).toString()).join(''),
      sealedKey: deps.sealer.seal(identity.privateKeyDer, { purpose: 'certificate-key', rut, rowId: id }),
      createdAt: now,
    });
    if (environment === 'production') {
      signalFactsChanged(em, rut, now);
      for (const message of await openCaeStartMessages(em, { rut })) enqueue(em, message, now);
    }
    return certificate;
  });
}
