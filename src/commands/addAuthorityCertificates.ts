import { X509Certificate } from 'node:crypto';
import { fingerprintOf, pemBlocks } from '../crypto/x509.ts';
import {
  type AuthorityRuts,
  environmentOf,
  findAuthorityCertificates,
  addAuthorityCertificates as storeAuthorityCertificates,
} from '../db/authorityCertificates.ts';
import type { AuthorityCertificate } from '../db/entities/AuthorityCertificate.ts';
import type { Environment } from '../domain/cfeTypes.ts';
import { Refusal } from '../errors.ts';
import { audited } from './steps/audited.ts';
import type { CommandDeps } from './steps/deps.ts';

/**
 * Trusts the certificates of a PEM file (one or several) as the authority's: signatures on CAEs and answers made with
 * them count from now on, in `environment`, or else in the one whose authority has the RUT of the certificate's subject.
 * An operator's act; one that is trusted already stays as it is, or moves to the environment that is named. Answers all
 * that the file holds. Refuses a file with none, with one that cannot be read, or with one of which nothing tells the
 * environment (INVALID_INPUT).
 */
export async function addAuthorityCertificates(
  deps: CommandDeps & { readonly authorityRuts: AuthorityRuts },
  input: { pem: string; environment?: Environment | undefined },
): Promise<AuthorityCertificate[]> {
  const blocks = pemBlocks(input.pem);
  if (blocks.length === 0) throw new Refusal('INVALID_INPUT', 'The file has no PEM certificate.');
  const addedAt = deps.clock();
  const { environment = null } = input;
  const certificates = new Map(blocks.map(read).map((one) => [fingerprintOf(one), one]));
  const rows = [...certificates].map(([fingerprint, one]) => ({
    fingerprint,
    certificate: one.raw,
    subject: one.subject.replaceAll('\n', ', '),
    environment,
    notBefore: new Date(one.validFromDate),
    notAfter: new Date(one.validToDate),
    addedAt,
  }));
  const untold = rows.findIndex((row) => !environmentOf(row, deps.authorityRuts));
  if (untold >= 0) {
    const message = `Certificate ${untold + 1} of the file has no authority's RUT in its subject; name its environment.`;
    throw new Refusal('INVALID_INPUT', message);
  }
  return deps.orm.em.fork().transactional(async (em) => {
    const fingerprints = rows.map(({ fingerprint }) => fingerprint);
    const held = new Map(
      (await findAuthorityCertificates(em, fingerprints)).map((one) => [one.fingerprint, one.environment]),
    );
    for (const { fingerprint } of rows) {
      const isKept = environment === null || held.get(fingerprint) === environment;
      if (held.has(fingerprint) && isKept) continue;
      const named = environment === null ? {} : { reason: `named for ${environment}` };
      audited(deps, em, { action: 'authority_certificate.add', subject: fingerprint, ...named }, addedAt);
    }
    await storeAuthorityCertificates(em, rows);
    return findAuthorityCertificates(em, fingerprints);
  });
}

function read(pem: string, index: number): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch (cause) {
    throw new Refusal('INVALID_INPUT', `Certificate ${index + 1} of the file cannot be read.`, { cause });
  }
}
