import { randomUUID } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { type CaeRow, caesForNumbers } from '../../db/caes.ts';
import { insertCfe, issueCfeMessage, takeSequence } from '../../db/cfes.ts';
import type { Branch } from '../../db/entities/Branch.ts';
import type { Certificate } from '../../db/entities/Certificate.ts';
import type { Cfe } from '../../db/entities/Cfe.ts';
import type { Enterprise } from '../../db/entities/Enterprise.ts';
import type { RequestKey } from '../../db/idempotency.ts';
import type { LockedOriginal } from '../../db/originals.ts';
import { enqueue } from '../../db/outbox.ts';
import { chooseCae, exemptTaxpayerFaults, noneLeft } from '../../domain/cae.ts';
import { compact } from '../../domain/cfeContent.ts';
import type { CaeData, CfeContent, Issuer } from '../../domain/cfeDocument.ts';
import { formatCfeId } from '../../domain/cfeId.ts';
import type { Environment } from '../../domain/cfeTypes.ts';
import { montevideoDate, montevideoTimestamp } from '../../domain/montevideo.ts';
import { invalidInput } from '../../errors.ts';
import { failpoint } from '../../failpoints.ts';
import { newCfeWorkflowId } from '../../temporal.ts';
import { signingFaults } from './issuerFaults.ts';

/** A request without faults, with all that its CFE is made from. */
export interface Draft {
  /** The calling account. */
  accountId: string;
  environment: Environment;
  enterprise: Enterprise;
  certificate: Certificate;
  /** The branch that issues it, where that is not the enterprise's first. */
  branch: Branch | null;
  content: CfeContent;
  otherExtra: Readonly<Record<string, unknown>> | undefined;
  /** The CFE that a note corrects. */
  original: LockedOriginal | null;
  idempotency: RequestKey | null;
}

/**
 * Takes the next number of the type and stores the CFE with the start of its workflow, in the open transaction. The
 * type's numbering is locked until that ends: numbers follow one another, and one that is rolled back was never taken. The
 * moment of signing is fixed here, inside the validity of certificate and CAE. Refuses where the clock or another
 * caller has meanwhile used up what `draft` was judged by (INVALID_INPUT).
 */
export async function numberCfe(em: EntityManager, clock: () => Date, draft: Draft): Promise<Cfe> {
  const { accountId, environment, enterprise, certificate, content, original } = draft;
  const { rut } = enterprise;
  const { type } = content;
  const sequence = await takeSequence(em, { rut, environment, type });
  const now = clock();
  const today = montevideoDate(now);

  const cae = chooseCae(await caesForNumbers(em, { rut, environment, type, today }), today);
  if (!cae) throw invalidInput([noneLeft(type)]);
  const faults = [
    ...signingFaults(certificate, now),
    ...exemptTaxpayerFaults(cae.specialKind ?? null, content.lines),
  ];
  if (faults.length > 0) throw invalidInput(faults);
  cae.lastNumber += 1;
  failpoint('issue.numbered');

  const uuid = randomUUID();
  const cfeId = formatCfeId({ type, sequence });
  const cfe = insertCfe(em, {
    id: uuid,
    workflowId: newCfeWorkflowId({ uuid, rut, environment, cfeId }),
    accountId,
    rut,
    environment,
    type,
    sequence,
    caeId: cae.id,
    serie: cae.serie,
    numero: cae.lastNumber,
    status: 'PENDING',
    emissionDate: content.emissionDate,
    currency: content.totals.currency,
    payAmount: content.totals.pay,
    document: {
      ...content,
      issuer: issuerOf(enterprise, draft.branch),
      serie: cae.serie,
      numero: cae.lastNumber,
      cae: caeDataOf(cae),
      signedAt: montevideoTimestamp(now),
    },
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
    firstAnswer: null,
    createdAt: now,
    settledAt: null,
  });
  enqueue(em, issueCfeMessage(cfe), now);
  return cfe;
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

function caeDataOf(cae: CaeRow): CaeData {
  const { authorizationNumber, numberStart, numberEnd, expirationDate, specialKind, specialCause } = cae;
  const special =
    specialKind === 1 && specialCause ? { special: { kind: specialKind, cause: specialCause } as const } : {};
  return { authorizationNumber, numberStart, numberEnd, expirationDate, ...special };
}
