import { LockMode } from '@mikro-orm/postgresql';
import { UnsealError } from '../../crypto/sealed.ts';
import { currentCertificate } from '../../db/certificates.ts';
import { Certificate } from '../../db/entities/Certificate.ts';
import { Cfe } from '../../db/entities/Cfe.ts';
import type { Orm } from '../../db/orm.ts';
import type { CfeDocument } from '../../domain/cfeDocument.ts';
import { isFinal } from '../../domain/cfeStatus.ts';
import { montevideoDate, montevideoTimestamp } from '../../domain/montevideo.ts';
import { failpoint } from '../../failpoints.ts';

export interface SignDeps {
  orm: Orm;
  clock: () => Date;
  /**
   * Writes and signs a document with a stored certificate; checks the signature it made. Throws when the private key
   * cannot be opened.
   */
  signDocument: (document: CfeDocument, certificate: Certificate) => Signed;
}

interface Signed {
  xml: string;
  digest: string;
}

/** Signs a CFE that is not signed yet and stores it. Answers null, or what stands in the way, for support. */
export async function signOnce(deps: SignDeps, { id, certificateId, document }: Cfe): Promise<string | null> {
  const em = deps.orm.em.fork();
  const signed = signedBy(deps, document, await em.findOneOrFail(Certificate, { id: certificateId }));
  failpoint('sign.signed');
  if (!signed) {
    const obstacle = await signAnew(deps, id);
    if (obstacle !== null) return obstacle;
  } else {
    const { xml, digest } = signed;
    await em.nativeUpdate(Cfe, { id, signedXml: null }, { signedXml: xml, digest, stuckReason: null });
  }
  failpoint('sign.stored');
  return null;
}

/** The signed document; null where the private key of the certificate cannot be opened. */
function signedBy(
  { signDocument }: SignDeps,
  document: CfeDocument,
  certificate: Certificate,
): Signed | null {
  try {
    return signDocument(document, certificate);
  } catch (error) {
    // Anything else is a mistake of ours: the step fails and is repeated, and a deploy repairs it.
    if (!(error instanceof UnsealError)) throw error;
    return null;
  }
}

/**
 * The key of the certificate that was to sign is lost: the enterprise's current one signs, and the moment of signing is
 * fixed anew with it (docs/contract.md#signing). The lock of the CFE's row lets one attempt alone sign it. Answers
 * null, or what stands in the way, for support.
 */
function signAnew(deps: SignDeps, cfeUuid: string): Promise<string | null> {
  return deps.orm.em.fork().transactional(async (em) => {
    const cfe = await em.findOneOrFail(Cfe, { id: cfeUuid }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (cfe.digest !== null || isFinal(cfe.status)) return null;
    const now = deps.clock();
    const { expirationDate } = cfe.document.cae;
    if (montevideoDate(now) > expirationDate) {
      return `Its CAE expired on ${expirationDate}, so no other certificate may sign it now: configure the key, then retry; or abandon the CFE.`;
    }
    const certificate = await currentCertificate(em, cfe.rut, cfe.environment);
    if (!certificate || certificate.id === cfe.certificateId) {
      return 'Configure the key, or upload a new certificate; then retry.';
    }
    if (now < certificate.notBefore || now > certificate.notAfter) {
      return 'The current certificate of the enterprise is not valid now: upload a valid one; then retry.';
    }
    const document = { ...cfe.document, signedAt: montevideoTimestamp(now) };
    const signed = signedBy(deps, document, certificate);
    if (!signed) {
      return 'Nor can the key of the current certificate. Configure the keys, or upload a new certificate; then retry.';
    }
    cfe.certificateId = certificate.id;
    cfe.document = document;
    cfe.signedXml = signed.xml;
    cfe.digest = signed.digest;
    cfe.stuckReason = null;
    return null;
  });
}
