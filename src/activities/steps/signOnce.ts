import { randomUUID } from 'node:crypto';
import { LockMode } from '@mikro-orm/postgresql';
import { UnsealError } from '../../crypto/sealed.ts';
import { currentSigner } from '../../db/certificates.ts';
import type { CfeInHand } from '../../db/cfeInHand.ts';
import type { Certificate } from '../../db/entities/enterprises.ts';
import { Cfe } from '../../db/entities/receipts.ts';
import { storeSignedWithSobre } from '../../db/sobres.ts';
import { sobreAround } from '../../dgi/xml/sobre.ts';
import type { CfeDocument } from '../../domain/cfeDocument.ts';
import { isFinal } from '../../domain/cfeStatus.ts';
import { montevideoDate, montevideoTimestamp } from '../../domain/montevideo.ts';
import { failpoint } from '../../failpoints.ts';
import { type PrepareDeps, sobreContent } from './prepareSobre.ts';

export interface SignDeps extends PrepareDeps {
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

/**
 * Signs a CFE that is not signed yet and stores it, with its sobre where nobody has to be waited for before it is sent.
 * Answers null, or what stands in the way, for support.
 */
export async function signOnce(deps: SignDeps, hand: CfeInHand): Promise<string | null> {
  const { cfe, certificate, original } = hand;
  const { id } = cfe;
  const em = deps.orm.em.fork();
  const signed = signedBy(deps, cfe.document, certificate);
  failpoint('sign.signed');
  if (!signed) {
    const obstacle = await signAnew(deps, id);
    if (obstacle !== null) return obstacle;
  } else if (original === null || original.status === 'ACCEPTED' || original.status === 'OBSERVED') {
    const now = deps.clock();
    const around = sobreAround({
      ...sobreContent(deps, { cfe, certificate, now }),
      signedCfes: [signed.xml],
    });
    await storeSignedWithSobre(em, id, signed, { id: randomUUID(), ...around, createdAt: now });
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
    const certificate = await currentSigner(em, cfe.rut, cfe.environment);
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
