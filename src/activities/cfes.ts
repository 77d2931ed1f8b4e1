import type { EntityManager } from '@mikro-orm/postgresql';
import { UnsealError } from '../crypto/sealed.ts';
import { Certificate } from '../db/entities/Certificate.ts';
import { Cfe } from '../db/entities/Cfe.ts';
import type { Orm } from '../db/orm.ts';
import type { CfeDocument } from '../domain/cfeDocument.ts';
import { isFinal } from '../domain/cfeStatus.ts';
import type { Stuck } from './failures.ts';

export interface CfeDeps {
  orm: Orm;
  /**
   * Writes and signs a document with a stored certificate; checks the signature it made. Throws when the private key
   * cannot be opened.
   */
  signDocument: (document: CfeDocument, certificate: Certificate) => { xml: string; digest: string };
}

/** Activities on our own papers of a CFE. */
export const createCfeActivities = ({ orm, signDocument }: CfeDeps) => ({
  /**
   * Writes and signs the XML of a CFE and stores it, once: a second run finds it stored. Answers whether the CFE is a
   * note whose original has no verdict yet.
   */
  async signCfe(cfeId: string): Promise<{ waitsForOriginal: boolean } | Stuck> {
    const em = orm.em.fork();
    const cfe = await em.findOneOrFail(Cfe, { id: cfeId });
    if (cfe.digest === null && !isFinal(cfe.status)) {
      const certificate = await em.findOneOrFail(Certificate, { id: cfe.certificateId });
      let signed: { xml: string; digest: string };
      try {
        signed = signDocument(cfe.document, certificate);
      } catch (error) {
        // Anything else is a mistake of ours: the step fails and is repeated, and a deploy repairs it.
        if (!(error instanceof UnsealError)) throw error;
        await em.nativeUpdate(Cfe, { id: cfeId }, { stuckReason: 'signing' });
        return {
          stuck: 'signing',
          explanation:
            'The CFE cannot be signed: the private key of its certificate cannot be opened (is its key-encryption key configured?). Nothing was sent to the authority.',
        };
      }
      await em.nativeUpdate(
        Cfe,
        { id: cfeId, signedXml: null },
        { signedXml: signed.xml, digest: signed.digest, stuckReason: null },
      );
    }
    return { waitsForOriginal: await waitsForOriginal(em, cfe) };
  },
});

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
