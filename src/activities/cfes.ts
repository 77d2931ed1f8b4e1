import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { UnsealError } from '../crypto/sealed.ts';
import { currentCertificate } from '../db/certificates.ts';
import { markStuck } from '../db/cfes.ts';
import { Certificate } from '../db/entities/Certificate.ts';
import { Cfe } from '../db/entities/Cfe.ts';
import type { Orm } from '../db/orm.ts';
import type { CfeDocument } from '../domain/cfeDocument.ts';
import { isFinal } from '../domain/cfeStatus.ts';
import { montevideoDate, montevideoTimestamp } from '../domain/montevideo.ts';
import { failpoint } from '../failpoints.ts';
import type { Stuck } from './failures.ts';

export interface CfeDeps {
  orm: Orm;
  clock: () => Date;
  /**
   * Writes and signs a document with a stored certificate; checks the signature it made. Throws when the private key
   * cannot be opened.
   */
  signDocument: (document: CfeDocument, certificate: Certificate) => Signed;
}

/** Activities on our own papers of a CFE. */
export const createCfeActivities = (deps: CfeDeps) => ({
  /**
   * Writes and signs the XML of a CFE and stores it, once: a second run finds it stored. Answers whether the CFE is a
   * note whose original has no verdict yet.
   */
  async signCfe(cfeId: string): Promise<{ waitsForOriginal: boolean } | Stuck> {
    const em = deps.orm.em.fork();
    const cfe = await em.findOneOrFail(Cfe, { id: cfeId });
    if (isFinal(cfe.status)) return { waitsForOriginal: false };
    if (cfe.digest === null) {
      const certificate = await em.findOneOrFail(Certificate, { id: cfe.certificateId });
      const signed = signedBy(deps, cfe.document, certificate);
      failpoint('sign.signed');
      const obstacle = signed ? await store(em, cfeId, signed) : await signAnew(deps, cfeId);
      if (obstacle !== null) {
        await markStuck(em, cfeId, 'signing');
        return { stuck: 'signing', explanation: `${KEY_LOST} ${obstacle}` };
      }
      failpoint('sign.stored');
    }
    return { waitsForOriginal: await waitsForOriginal(em, cfe) };
  },
});

interface Signed {
  xml: string;
  digest: string;
}

const KEY_LOST =
  'The CFE cannot be signed: the private key of its certificate cannot be opened (is its key-encryption key configured?). Nothing was sent to the authority.';

/** The signed document; null where the private key of the certificate cannot be opened. */
function signedBy({ signDocument }: CfeDeps, document: CfeDocument, certificate: Certificate): Signed | null {
  try {
    return signDocument(document, certificate);
  } catch (error) {
    // Anything else is a mistake of ours: the step fails and is repeated, and a deploy repairs it.
    if (!(error instanceof UnsealError)) throw error;
    return null;
  }
}

async function store(em: EntityManager, id: string, { xml, digest }: Signed): Promise<null> {
  await em.nativeUpdate(Cfe, { id, signedXml: null }, { signedXml: xml, digest, stuckReason: null });
  return null;
}

/**
 * The key of the certificate that was to sign is lost: the enterprise's current one signs, and the moment of signing is
 * fixed anew with it (decisions.md §4). The CFE's row gives the turn, so that it is signed once. Answers null, or
 * what stands in the way, for support.
 */
function signAnew(deps: CfeDeps, cfeId: string): Promise<string | null> {
  return deps.orm.em.fork().transactional(async (em) => {
    const cfe = await em.findOneOrFail(Cfe, { id: cfeId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (cfe.digest !== null || isFinal(cfe.status)) return null;
    const now = deps.clock();
    const { expirationDate } = cfe.document.cae;
    if (montevideoDate(now) > expirationDate) {
      return `Its CAE expired on ${expirationDate}, so that no other certificate may sign it now: configure the key, then retry; or abandon the CFE.`;
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
    if (!signed)
      return 'Nor can that of the current certificate. Configure the keys, or upload a new one; then retry.';
    cfe.certificateId = certificate.id;
    cfe.document = document;
    cfe.signedXml = signed.xml;
    cfe.digest = signed.digest;
    cfe.stuckReason = null;
    return null;
  });
}

/**
 * Whether the CFE that this one corrects is still without verdict. Whoever stores that verdict later tells the note
 * (its row exists by then), so a "yes" is always followed by the signal.
 */
async function waitsForOriginal(em: EntityManager, { referenceId }: Cfe): Promise<boolean> {
  if (referenceId === null) return false;
  const original = await em.findOneOrFail(Cfe, { id: referenceId });
  return !isFinal(original.status);
}

export type CfeActivities = ReturnType<typeof createCfeActivities>;
