import { X509Certificate } from 'node:crypto';
import {
  isTrustedSigner,
  addAuthorityCertificates as storeAuthorityCertificates,
} from '../db/authorityCertificates.ts';
import type { AuthorityCertificate } from '../db/entities/AuthorityCertificate.ts';
import { Refusal } from '../errors.ts';
import { audited } from './steps/audited.ts';
import type { CommandDeps } from './steps/deps.ts';

const PEM = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

/**
 * Trusts the certificates of a PEM file (one or several) as the authority's: signatures on CAEs and answers made with
 * them count from now on. An operator's act; one that is trusted already stays as it is. Answers all that the file
 * holds. Refuses a file with none, or with one that cannot be read (INVALID_INPUT).
 */
export async function addAuthorityCertificates(
  deps: CommandDeps,
  input: { pem: string },
): Promise<AuthorityCertificate[]> {
  const blocks = input.pem.match(PEM) ?? [];
  if (blocks.length === 0) throw new Refusal('INVALID_INPUT', 'The file has no PEM certificate.');
  const addedAt = deps.clock();
  const rows = blocks.map((pem, i) => rowOf(read(pem, i), addedAt));
  await deps.orm.em.fork().transactional(async (em) => {
    for (const { fingerprint } of rows) {
      if (await isTrustedSigner(em, fingerprint)) continue;
      audited(deps, em, { action: 'authority_certificate.add', subject: fingerprint }, addedAt);
    }
    await storeAuthorityCertificates(em, rows);
  });
  return rows;
}

function read(pem: string, index: number): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch (cause) {
    throw new Refusal('INVALID_INPUT', `Certificate ${index + 1} of the file cannot be read.`, { cause });
  }
}

function rowOf(certificate: X509Certificate, addedAt: Date): AuthorityCertificate {
  return {
    fingerprint: certificate.fingerprint256.replaceAll(':', '').toLowerCase(),
    certificate: certificate.raw,
    subject: certificate.subject.replaceAll('\n', ', '),
    notBefore: new Date(certificate.validFrom),
    notAfter: new Date(certificate.validTo),
    addedAt,
  };
}
