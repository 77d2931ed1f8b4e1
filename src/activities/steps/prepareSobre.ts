import { randomUUID } from 'node:crypto';
import { LockMode } from '@mikro-orm/postgresql';
import { requireSigner } from '../../db/certificates.ts';
import { Sobre } from '../../db/entities/authority.ts';
import type { Certificate } from '../../db/entities/enterprises.ts';
import { Cfe } from '../../db/entities/receipts.ts';
import type { Orm } from '../../db/orm.ts';
import { nextIdemisor, sobreUnderWay } from '../../db/sobres.ts';
import { writeSobre } from '../../dgi/xml/sobre.ts';
import type { Environment } from '../../domain/cfeTypes.ts';
import { montevideoTimestamp } from '../../domain/montevideo.ts';
import { failpoint } from '../../failpoints.ts';

export interface PrepareDeps {
  orm: Orm;
  clock: () => Date;
  /** The authority's own RUT, to which sobres are addressed. */
  authorityRut: Readonly<Record<Environment, string>>;
}

/** What is known of a CFE's sobre before it has its number. */
export const sobreContent = (
  { authorityRut }: Pick<PrepareDeps, 'authorityRut'>,
  { cfe, certificate, now }: { cfe: Cfe; certificate: Certificate; now: Date },
) => ({
  receiverRut: authorityRut[cfe.environment],
  issuerRut: cfe.rut,
  createdAt: montevideoTimestamp(now),
  certificateDer: certificate.certificate,
});

/**
 * The sobre of a signed CFE: the one under way, or a new one, stored with its number and its bytes before anything
 * is sent. Two attempts at once end with the same sobre: the second waits for the lock of the CFE's row.
 */
export function prepareSobre(deps: PrepareDeps, { id }: Cfe): Promise<Sobre> {
  return deps.orm.em.fork().transactional(async (em) => {
    const cfe = await em.findOneOrFail(
      Cfe,
      { id },
      { lockMode: LockMode.PESSIMISTIC_WRITE, populate: ['signedXml'] },
    );
    const underWay = await sobreUnderWay(em, id);
    if (underWay) return underWay;
    if (cfe.signedXml === null) throw new Error(`CFE ${id} is not signed yet`);

    const certificate = await requireSigner(em, cfe.certificateId);
    const now = deps.clock();
    const idemisor = await nextIdemisor(em, cfe.rut, cfe.environment);
    failpoint('submit.numbered');
    return em.create(Sobre, {
      id: randomUUID(),
      cfeUuid: id,
      rut: cfe.rut,
      environment: cfe.environment,
      idemisor,
      state: 'PREPARED',
      xml: writeSobre({
        ...sobreContent(deps, { cfe, certificate, now }),
        idemisor,
        signedCfes: [cfe.signedXml],
      }),
      sendingAt: null,
      receivedAt: null,
      idReceptor: null,
      token: null,
      askFrom: null,
      undecidedSince: null,
      refusal: null,
      createdAt: now,
    });
  });
}
