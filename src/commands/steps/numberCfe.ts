import { randomBytes, randomUUID } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { LockedOriginal } from '../../db/cfes.ts';
import type { Branch, Enterprise } from '../../db/entities/enterprises.ts';
import type { CfeRow } from '../../db/entities/receipts.ts';
import type { RequestKey } from '../../db/idempotency.ts';
import { type IssuingCae, type IssuingCertificate, type SobreAtOnce, storeNumbered } from '../../db/issue.ts';
import type { KeptMessage } from '../../db/outbox.ts';
import { issueCfesMessage } from '../../db/sobres.ts';
import { compact } from '../../domain/cfeContent.ts';
import type { CaeData, CfeContent, Issuer } from '../../domain/cfeDocument.ts';
import { formatCfeId, PLACE_MARK } from '../../domain/cfeId.ts';
import { isFinal } from '../../domain/cfeStatus.ts';
import type { Environment } from '../../domain/cfeTypes.ts';
import { montevideoTimestamp } from '../../domain/montevideo.ts';
import { newSobreWorkflowId } from '../../temporal.ts';

/** A request without faults, with all that its CFE is made from. */
export interface Draft {
  /** The calling account. */
  accountId: string;
  environment: Environment;
  enterprise: Enterprise;
  certificate: IssuingCertificate;
  /** The branch that issues it, where that is not the enterprise's first. */
  branch: Branch | null;
  /** The CAE that gives the number. */
  cae: IssuingCae;
  content: CfeContent;
  otherExtra: Readonly<Record<string, unknown>> | undefined;
  /** The CFE that a note corrects. */
  original: LockedOriginal | null;
  idempotency: RequestKey | null;
  requestId: string | null;
  /** The API key of the request. */
  keyId: string | null;
  /** The moment by which all of it was judged: that of signing. */
  now: Date;
}

/** How sends follow one another, for a CFE that may go at once. */
export type Pace = Pick<SobreAtOnce, 'spacingMilliseconds' | 'nearMilliseconds'>;

/** A CFE that was numbered and, where it goes at once, what starts the run of its sobre. */
interface NumberedCfe {
  readonly cfe: CfeRow;
  readonly start: KeptMessage | null;
}

/**
 * Stores the CFE of a draft under the next number of its CAE (`storeNumbered`). It is signed as of the moment at which
 * certificate and CAE were judged, so inside the validity of both.
 */
export async function numberCfe(em: EntityManager, draft: Draft, pace: Pace): Promise<NumberedCfe> {
  const cfe = unnumbered(draft);
  const { rut, environment, type } = cfe;
  const sobreId = randomUUID();
  const cfeId = formatCfeId({ type, sequence: PLACE_MARK });
  const workflowId = newSobreWorkflowId({ uuid: sobreId, rut, environment, firstCfeId: cfeId, others: 0 });
  const message = issueCfesMessage({ id: sobreId, workflowId, rut, environment }, [{ type, cfeId }]);
  const { sequence, numero, startId } = await storeNumbered(em, cfe, { id: sobreId, message, ...pace });
  const placed = (text: string): string => text.replace(PLACE_MARK, String(sequence));
  const { searchAttributes } = message;
  const startsAtOnce = startId !== null;
  return {
    cfe: {
      ...cfe,
      sobreId: startsAtOnce ? sobreId : null,
      workflowId: startsAtOnce ? placed(workflowId) : null,
      sequence,
      numero,
      document: { ...cfe.document, numero },
    },
    start: startsAtOnce
      ? {
          ...message,
          id: BigInt(startId),
          workflowId: placed(workflowId),
          searchAttributes: { ...searchAttributes, CfeId: [placed(cfeId)] },
        }
      : null,
  };
}

function unnumbered({ enterprise, content, certificate, cae, original, now, ...draft }: Draft) {
  return {
    id: randomUUID(),
    accountId: draft.accountId,
    rut: enterprise.rut,
    environment: draft.environment,
    type: content.type,
    caeId: cae.id,
    serie: cae.serie,
    status: 'PENDING',
    emissionDate: content.emissionDate,
    currency: content.totals.currency,
    payAmount: content.totals.pay,
    document: {
      ...content,
      issuer: issuerOf(enterprise, draft.branch),
      serie: cae.serie,
      cae: caeDataOf(cae),
      signedAt: montevideoTimestamp(now),
    },
    // Whoever decides the original later lets the note go: its row is locked until this one is stored.
    held: original !== null && !isFinal(original.status),
    referenceId: original?.id ?? null,
    referenceAmount: content.reference?.amount ?? null,
    certificateId: certificate.id,
    signedXml: null,
    digest: null,
    rejection: null,
    stuckReason: null,
    extra: draft.otherExtra ?? null,
    idempotencyKey: draft.idempotency?.key ?? null,
    idempotencyHash: draft.idempotency?.hash ?? null,
    idempotencyOutline: draft.idempotency?.outline() ?? null,
    requestId: draft.requestId,
    keyId: draft.keyId,
    receiptToken: randomBytes(16).toString('base64url'),
    firstAnswer: null,
    createdAt: now,
    settledAt: null,
  } as const;
}

/** The issuer as it stands now, with the address of the branch: what is corrected later does not touch this CFE. */
function issuerOf(enterprise: Enterprise, branch: Branch | null): Issuer {
  const place = branch ?? enterprise;
  return compact({
    rut: enterprise.rut,
    legalName: enterprise.legalName,
    tradeName: enterprise.tradeName ?? undefined,
    phone: place.phoneNumber ?? enterprise.phoneNumber ?? undefined,
    email: enterprise.email ?? undefined,
    branch: place.branch,
    address: place.streetName,
    city: place.localityName,
    department: place.departmentName,
    website: enterprise.website ?? undefined,
    issuerSince: enterprise.issuerSince ?? undefined,
    resolution: enterprise.resolution ?? undefined,
    logoSha256: enterprise.logoSha256 ?? undefined,
  });
}

function caeDataOf(cae: IssuingCae): CaeData {
  const { authorizationNumber, numberStart, numberEnd, expirationDate, specialKind, specialCause } = cae;
  const special =
    specialKind === 1 && specialCause ? { special: { kind: specialKind, cause: specialCause } as const } : {};
  return { authorizationNumber, numberStart, numberEnd, expirationDate, ...special };
}
