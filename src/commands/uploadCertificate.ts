import { randomUUID } from 'node:crypto';
import { type Identity, openPkcs12, type Pkcs12Failure } from '../crypto/pkcs12.ts';
import type { Sealer } from '../crypto/sealed.ts';
import { replaceCertificate } from '../db/certificates.ts';
import type { Certificate } from '../db/entities/Certificate.ts';
import { certificateFault, certificateFaults } from '../domain/certificate.ts';
import type { Environment } from '../domain/cfeTypes.ts';
import { type Fault, invalidInput } from '../errors.ts';
import { changeEnterprise } from './changeEnterprise.ts';
import type { CommandDeps } from './deps.ts';
import { tellFactsChanged } from './enterpriseWorkflow.ts';

/** Faults of a file that does not open, by why it does not. */
const UNOPENED: Readonly<Record<Pkcs12Failure, Fault>> = {
  not_pkcs12: certificateFault('certificate.not_pkcs12'),
  too_costly: certificateFault(
    'certificate.not_pkcs12',
    'The file takes too long to open (its password is derived in too many rounds); export it anew.',
  ),
  wrong_password: certificateFault('certificate.wrong_password'),
  no_key: certificateFault('certificate.not_pkcs12', 'The file holds no private key.'),
  no_certificate: certificateFault('certificate.not_pkcs12', 'The file holds no certificate.'),
  key_mismatch: certificateFault('certificate.key_mismatch'),
  not_rsa: certificateFault('certificate.not_rsa'),
};

/**
 * Takes the enterprise's certificate from a .p12: it signs from now on, the one before stays for the record. Only the
 * private key is kept, sealed. Refuses with every fault of the certificate at once (INVALID_INPUT).
 */
export async function uploadCertificate(
  deps: CommandDeps & { readonly sealer: Sealer },
  input: { rut: string; file: Uint8Array; password: string; environment?: Environment },
): Promise<Certificate> {
  const { rut, file, password, environment = 'production' } = input;
  const opened = await openPkcs12(file, password);
  if (!opened.ok) throw invalidInput([UNOPENED[opened.reason]]);
  const { identity } = opened;
  try {
    return await store(deps, { rut, environment }, identity);
  } finally {
    identity.privateKeyDer.fill(0);
  }
}

function store(
  deps: CommandDeps & { readonly sealer: Sealer },
  { rut, environment }: { rut: string; environment: Environment },
  identity: Identity,
): Promise<Certificate> {
  return changeEnterprise(deps, rut, { action: 'certificate.upload' }, async (em, _enterprise, now) => {
    const { serialNumber: subjectSerialNumber, modulusBits: rsaBits, notBefore, notAfter } = identity;
    const facts = { subjectSerialNumber, rsaBits, notBefore, notAfter, keyMatches: true };
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
      certificate: identity.certificateDer,
      sealedKey: deps.sealer.seal(identity.privateKeyDer, { purpose: 'certificate-key', rut, rowId: id }),
      createdAt: now,
    });
    if (environment === 'production') tellFactsChanged(em, rut, now);
    return certificate;
  });
}
