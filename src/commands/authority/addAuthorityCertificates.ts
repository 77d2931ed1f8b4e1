import { X509Certificate } from 'node:crypto';
import { fingerprintOf, rucOf, splitPem } from '../../crypto/x509.ts';
import {
  findAuthorityCertificates,
  upsertAuthorityCertificates as storeAuthorityCertificates,
} from '../../db/authority/authorityCertificates.ts';
import type { AuthorityCertificate } from '../../db/entities/authority.ts';
import { ENVIRONMENTS, type Environment } from '../../domain/receipts/cfeTypes.ts';
import { Refusal } from '../../errors.ts';
import { auditAct } from '../steps/auditAct.ts';
import type { CommandDeps } from '../steps/deps.ts';

/** The RUT of the authority in each environment. */
export type AuthorityRuts = Readonly<Record<Environment, string>>;

/**
 * Trusts the certificates of a PEM file as the authority's, in `environment` or in the environment whose authority has the
 * RUT in the certificate's subject. Moves a trusted certificate only to a named environment. Operators only. Returns all
 * certificates in the file. Throws INVALID_INPUT for a file without certificates, and for a certificate that is unreadable
 * or whose environment is unknown.
 */
export async function addAuthorityCertificates(
  deps: CommandDeps & { readonly authorityRuts: AuthorityRuts },
  input: { pem: string; environment?: Environment | undefined },
): Promise<AuthorityCertificate[]> {
  const blocks = splitPem(input.pem);
  if (blocks.length === 0) throw new Refusal('INVALID_INPUT', 'The file has no PEM certificate.');
  const addedAt = deps.clock();
  const { environment: named } = input;
  const certificates = new Map(blocks.map(parseCertificate).map((one) => [fingerprintOf(one), one]));
  const rows = [...certificates].map(([fingerprint, one], index) => ({
    fingerprint,
    certificate: one.raw,
    subject: one.subject.replaceAll('\n', ', '),
    environment: named ?? environmentOf(one, index, deps.authorityRuts),
    notBefore: new Date(one.validFromDate),
    notAfter: new Date(one.validToDate),
    addedAt,
  }));
  return deps.orm.em.fork().transactional(async (em) => {
    const fingerprints = rows.map(({ fingerprint }) => fingerprint);
    const trusted = new Map(
      (await findAuthorityCertificates(em, fingerprints)).map((one) => [one.fingerprint, one.environment]),
    );
    for (const { fingerprint } of rows) {
      const stays = named === undefined || trusted.get(fingerprint) === named;
      if (trusted.has(fingerprint) && stays) continue;
      const reason = named === undefined ? undefined : `named for ${named}`;
      auditAct(deps, em, { action: 'authority_certificate.add', subject: fingerprint, reason }, addedAt);
    }
    await storeAuthorityCertificates(em, rows, { named: named !== undefined });
    return findAuthorityCertificates(em, fingerprints);
  });
}

/** Returns the only environment whose authority has the RUT in the certificate's subject. */
function environmentOf(certificate: X509Certificate, index: number, ruts: AuthorityRuts): Environment {
  const ruc = rucOf(certificate);
  const [found, ...more] = ENVIRONMENTS.filter((one) => ruts[one] === ruc);
  if (found && more.length === 0) return found;
  const message = `The subject of certificate ${index + 1} in the file has no authority's RUT; name its environment.`;
  throw new Refusal('INVALID_INPUT', message);
}

function parseCertificate(pem: string, index: number): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch (cause) {
    throw new Refusal('INVALID_INPUT', `Certificate ${index + 1} in the file cannot be read.`, { cause });
  }
}
