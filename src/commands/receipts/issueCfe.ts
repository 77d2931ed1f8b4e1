import { randomBytes, randomUUID } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { issueCfesMessage } from '../../db/authority/sobres.ts';
import { lockOpenBranch, readReadyFacts } from '../../db/enterprises/enterprises.ts';
import type { Branch, Enterprise } from '../../db/entities/enterprises.ts';
import type { CfeRow } from '../../db/entities/receipts.ts';
import { rollBackAfter } from '../../db/orm.ts';
import type { LeasedMessage } from '../../db/outbox.ts';
import type { RequestKey } from '../../db/people/idempotency.ts';
import {
  type IssueFacts,
  type IssuingCae,
  type IssuingCertificate,
  issueFacts,
  NumbersExhausted,
  type SobreToOpen,
  storeNumbered,
} from '../../db/receipts/issue.ts';
import { findIssuedHere, type LockedOriginal, lockOriginals } from '../../db/receipts/references.ts';
import { certificateStatus } from '../../domain/enterprises/certificate.ts';
import { unknownBranch } from '../../domain/enterprises/enterpriseRules.ts';
import {
  missingReadyFacts,
  NOT_AUTHORIZED_FAULT,
  notReadyFault,
  notYetFault,
  SUSPENDED_FAULT,
} from '../../domain/enterprises/enterpriseStatus.ts';
import { chooseCae, noNumbersLeftFault, SPECIAL_KINDS, specialKindFaults } from '../../domain/numbers/cae.ts';
import { omitUndefined, type TakenAmount, withGlobalReferences } from '../../domain/receipts/cfeContent.ts';
import type { CaeData, CfeContent, Issuer } from '../../domain/receipts/cfeDocument.ts';
import { formatCfeId, parseCfeId, SEQUENCE_MARK } from '../../domain/receipts/cfeId.ts';
import { type CfeReading, readCfeRequest } from '../../domain/receipts/cfeReading.ts';
import { checkCfe } from '../../domain/receipts/cfeRules.ts';
import { isFinal } from '../../domain/receipts/cfeStatus.ts';
import type { Environment } from '../../domain/receipts/cfeTypes.ts';
import type { CreditedLine } from '../../domain/receipts/credit/creditLeft.ts';
import { type RequestWarning, requestWarnings } from '../../domain/receipts/requestWarnings.ts';
import { isSmallTicket } from '../../domain/receipts/transmission.ts';
import { limitFaults } from '../../domain/requests/faults.ts';
import { montevideoDate, montevideoTimestamp } from '../../domain/values/montevideo.ts';
import { type Fault, invalidInput, Refusal } from '../../errors.ts';
import { failpoint } from '../../failpoints.ts';
import { newSobreWorkflowId } from '../../temporal.ts';
import type { CommandDeps } from '../steps/deps.ts';

/** Time between two sends, for a CFE that may be sent at once. */
type Pace = Pick<SobreToOpen, 'spacingMilliseconds' | 'nearMilliseconds'>;

/** Dependencies of issuing, beyond those of all commands. */
export interface IssueDeps extends CommandDeps {
  readonly outbox: CommandDeps['outbox'] & {
    /** Starts the workflow of a just stored message, whose row is leased, in the background. Never throws. */
    dispatchStored(message: LeasedMessage): void;
  };
  readonly pace: Pace;
}

export interface IssueCfeInput {
  accountId: string;
  rut: string;
  environment: Environment;
  /** The body as read from JSON, with numbers as `JsonNumber`. */
  body: unknown;
  /** Stored permanently in the row of the CFE. */
  idempotency?: RequestKey | null;
  /** X-Request-Id, for searching. */
  requestId?: string | null;
  /** Sends e-Tickets that the enterprise would only report, because the authority counts the e-Tickets of a test run. */
  sendsAll?: boolean;
  /** For notes that the service computes: the amounts that the note takes of each line of its original. */
  credited?: readonly CreditedLine[];
}

/** A request to check without issuing. */
interface ValidateCfeInput extends Omit<IssueCfeInput, 'idempotency' | 'requestId'> {
  /** Ignores a missing certificate or CAE, because issuing obtains them first (`obtainsTestKit`). */
  awaitsTestKit: boolean;
}

/**
 * Checks the request by every rule, then takes the next number and stores the CFE as PENDING, in one
 * statement. Throws INVALID_INPUT with all faults, without taking a number; NOT_FOUND for an unknown RUT;
 * KeyTaken when the idempotency key is in use.
 */
export async function issueCfe(deps: IssueDeps, input: IssueCfeInput): Promise<CfeRow> {
  failpoint('issue.begun');
  const { cfe, start } = await issueWithRetries(deps, input);
  failpoint('issue.stored');
  if (start) deps.outbox.dispatchStored(start);
  return cfe;
}

/**
 * Checks a request as `issueCfe` does and rolls everything back: no number is taken and nothing is stored.
 * Returns the CFE's content with the warnings of the request; throws as `issueCfe` does.
 */
export async function validateCfe(
  deps: CommandDeps,
  input: ValidateCfeInput,
): Promise<{ content: CfeContent; warnings: readonly RequestWarning[] }> {
  return rollBackAfter(deps.orm, (orm) => checkInTransaction({ ...deps, orm }, input));
}

/** Checks as `validateCfe` does, in a transaction of the caller. */
export const checkInTransaction = (
  deps: CommandDeps,
  input: ValidateCfeInput,
): Promise<{ content: CfeContent; warnings: readonly RequestWarning[] }> =>
  runOnValidRequest(deps, input, async (_, { content, warnings }) => ({ content, warnings }));

/** Checks the request again when other requests have taken the last numbers of the CAE. */
async function issueWithRetries(deps: IssueDeps, input: IssueCfeInput): Promise<NumberedCfe> {
  for (;;) {
    try {
      return await runOnValidRequest(deps, input, (em, { draft }) => {
        if (!draft) throw new Error('issuing needs a certificate and a CAE');
        return numberCfe(em, draft, deps.pace);
      });
    } catch (error) {
      if (!(error instanceof NumbersExhausted)) throw error;
    }
  }
}

// Checking.

/**
 * Runs `work` on a valid request. If the request refers to CFEs or names a branch other than the first, locks them in a
 * transaction, from before the check until `work` is done.
 */
function runOnValidRequest<T>(deps: CommandDeps, input: CheckInput, work: Work<T>): Promise<T> {
  const now = deps.clock();
  const reading = readCfeRequest(input.body, montevideoDate(now));
  const referred = reading.parts.referred ?? [];
  const keyId = deps.origin?.keyId ?? null;
  const em = deps.orm.em.fork();
  if (referred.length === 0 && reading.parts['extra.branch'] === undefined) {
    return checkAndRun(em, { input, keyId, reading, now, originals: new Map(), issuedHere: new Map() }, work);
  }
  return em.transactional(async (em) => {
    const cfeIds = referred.flatMap((one) => (one.kind === 'known' ? (parseCfeId(one.cfeId) ?? []) : []));
    const originals = await lockOriginals(em, input, cfeIds);
    const foreign = referred.filter((one) => one.kind === 'foreign');
    const issuedHere = await findIssuedHere(em, input, foreign);
    return checkAndRun(em, { input, keyId, reading, now, originals, issuedHere }, work);
  });
}

type CheckInput = IssueCfeInput & Partial<Pick<ValidateCfeInput, 'awaitsTestKit'>>;

/** Everything needed to build the CFE of a valid request. */
interface Draft {
  accountId: string;
  environment: Environment;
  enterprise: Enterprise;
  certificate: IssuingCertificate;
  /** The issuing branch; null for the enterprise's first. */
  branch: Branch | null;
  /** The CAE that provides the number. */
  cae: IssuingCae;
  content: CfeContent;
  /** Whether the CFE is only reported, never sent. */
  reportOnly: boolean;
  warnings: readonly RequestWarning[];
  otherExtra: Readonly<Record<string, unknown>> | undefined;
  originals: ReadonlyMap<string, LockedOriginal>;
  /** The amounts that a credit note takes of each original. */
  taken: readonly TakenAmount[];
  credited: readonly CreditedLine[] | null;
  idempotency: RequestKey | null;
  requestId: string | null;
  keyId: string | null;
  /** The time of the check, and of signing. */
  now: Date;
}

interface CheckedRequest {
  readonly content: CfeContent;
  readonly warnings: readonly RequestWarning[];
  /** Null while the certificate or CAE is still to be obtained. */
  readonly draft: Draft | null;
}

type Work<T> = (em: EntityManager, judged: CheckedRequest) => Promise<T>;

interface CfeRequest {
  readonly input: CheckInput;
  readonly keyId: string | null;
  readonly reading: CfeReading;
  readonly now: Date;
  /** The CFEs of this service that the request refers to, by cfe_id. */
  readonly originals: ReadonlyMap<string, LockedOriginal>;
  /** The cfe_ids of CFEs of this service that the request names by their printed numbers. */
  readonly issuedHere: ReadonlyMap<string, string>;
}

async function checkAndRun<T>(em: EntityManager, request: CfeRequest, work: Work<T>): Promise<T> {
  const checked = await checkRequest(em, request);
  failpoint('issue.judged');
  return work(em, checked);
}

async function checkRequest(
  em: EntityManager,
  { input, keyId, reading, now, originals, issuedHere }: CfeRequest,
): Promise<CheckedRequest> {
  const { accountId, rut, environment, idempotency = null, requestId = null } = input;
  const { awaitsTestKit = false, sendsAll = false } = input;
  const isComputed = input.credited !== undefined;
  const today = montevideoDate(now);
  const { cfe_type: type = null, emission_date: emissionDate = today, currency = 'UYU' } = reading.parts;
  const facts = await issueFacts(em, { rut, environment, type, today, emissionDate, currency });
  if (!facts) throw new Refusal('NOT_FOUND', `No enterprise with RUT ${rut} is registered.`);
  const { enterprise, certificate, uiValue, lastRate } = facts;
  // The first migration loads one.
  if (!uiValue) throw new Error('no UI value is loaded');

  const signing = awaitsTestKit ? PENDING_CERTIFICATE : certificate;
  const ofIssuer = await findIssuerFaults(em, { enterprise, certificate: signing, environment, now });
  const { migratedOn } = enterprise;
  const isEarly = migratedOn !== null && (emissionDate < migratedOn || today < migratedOn);
  if (isEarly && environment === 'production') ofIssuer.push(notYetFault(migratedOn));
  const branch = await lockNamedBranch(em, enterprise, reading, now);
  const checked = checkCfe(reading, { today, uiValue, lastRate, originals, issuedHere, isComputed });
  const { cae, faults: ofCae } = checkCae(facts, reading, { today, awaitsTestKit });
  const faults = [...ofIssuer, ...(checked.ok ? [] : checked.faults), ...branch.faults, ...ofCae];
  if (faults.length > 0 || !checked.ok) throw invalidInput(limitFaults(faults));
  const { taken, otherExtra } = checked;
  const warnings = requestWarnings(reading, lastRate);
  const reportOnly =
    enterprise.smallTickets === 'REPORT_ONLY' && !sendsAll && isSmallTicket(checked.content, uiValue);
  const content = reportOnly ? checked.content : withGlobalReferences(checked.content, originals);
  if (!certificate || !cae) return { content, warnings, draft: null };
  const draft: Draft = {
    accountId,
    environment,
    enterprise,
    certificate,
    branch: branch.found,
    cae,
    content,
    reportOnly,
    warnings,
    otherExtra,
    originals,
    taken,
    credited: input.credited ?? null,
    idempotency,
    requestId,
    keyId,
    now,
  };
  return { content, warnings, draft };
}

/** Replaces the certificate that the enterprise obtains before signing. */
const PENDING_CERTIFICATE = { notAfter: new Date(8.64e15), revoked: false };

/** Returns the branch of the request unless it is the first; locked until the transaction ends. */
async function lockNamedBranch(
  em: EntityManager,
  enterprise: Enterprise,
  { parts }: CfeReading,
  now: Date,
): Promise<{ found: Branch | null; faults: Fault[] }> {
  const branch = parts['extra.branch'];
  if (branch === undefined || branch === enterprise.branch) return { found: null, faults: [] };
  const found = await lockOpenBranch(em, { rut: enterprise.rut, branch }, now);
  return { found, faults: found ? [] : [unknownBranch(branch)] };
}

/**
 * Returns the CAE that provides the next number, and the faults; both are empty without a type in the
 * request.
 */
function checkCae(
  { caes }: IssueFacts,
  { parts }: CfeReading,
  { today, awaitsTestKit }: { today: string; awaitsTestKit: boolean },
) {
  const faults: Fault[] = [];
  const cae = chooseCae(caes, today);
  if (!cae && !awaitsTestKit && parts.cfe_type !== undefined) faults.push(noNumbersLeftFault(parts.cfe_type));
  const lines = (parts.kinds ?? []).map(({ iva_type }) => iva_type);
  if (cae) faults.push(...specialKindFaults(cae.specialKind, lines));
  return { cae, faults };
}

type Expiring = { readonly notAfter: Date; readonly revoked: boolean };

/**
 * Returns the faults that keep an enterprise from issuing: suspended, without a valid certificate and, in
 * production only, not READY (with the missing facts) or without the authority's permission.
 */
async function findIssuerFaults(
  em: EntityManager,
  issuer: { enterprise: Enterprise; certificate: Expiring | null; environment: Environment; now: Date },
): Promise<Fault[]> {
  const { enterprise, certificate, environment, now } = issuer;
  if (enterprise.status === 'SUSPENDED') return [SUSPENDED_FAULT];
  if (enterprise.status === 'PENDING' && environment === 'production') {
    return [notReadyFault(missingReadyFacts(await readReadyFacts(em, enterprise, now)))];
  }
  const withdrawn = environment === 'production' && !enterprise.permissions.includes('PROD');
  return [...(withdrawn ? [NOT_AUTHORIZED_FAULT] : []), ...findSigningFaults(certificate, now)];
}

/**
 * Returns the faults that keep a certificate from signing. READY does not depend on it, so issuing checks it.
 */
function findSigningFaults(certificate: Expiring | null, now: Date): Fault[] {
  const status = certificateStatus(certificate, now);
  if (status === 'NONE') {
    return [fault('enterprise.certificate_missing', 'The enterprise has no certificate; upload one.')];
  }
  if (status === 'REVOKED') {
    const message = 'The certificate of the enterprise was revoked by its authority; upload a new one.';
    return [fault('enterprise.certificate_revoked', message)];
  }
  if (status === 'EXPIRED') {
    const message = 'The certificate of the enterprise has expired; upload a new one.';
    return [fault('enterprise.certificate_expired', message)];
  }
  return [];
}

const fault = (code: string, message: string): Fault => ({ path: '', code, message });

// Numbering.

/** A numbered CFE and, when it is sent at once, the message that starts the run of its sobre. */
interface NumberedCfe {
  readonly cfe: CfeRow;
  readonly start: LeasedMessage | null;
}

/**
 * Stores the CFE under the next number of its CAE (`storeNumbered`). Signing uses the time of the check,
 * which is within the validity of both certificate and CAE.
 */
async function numberCfe(em: EntityManager, draft: Draft, pace: Pace): Promise<NumberedCfe> {
  const cfe = rowOfDraft(draft);
  const refersTo = draft.taken.flatMap(({ cfeId, amount }) => {
    const id = draft.originals.get(cfeId)?.id;
    return id === undefined ? [] : [{ id, taken: amount }];
  });
  const { rut, environment, type } = cfe;
  const sobreId = randomUUID();
  const cfeId = formatCfeId({ type, sequence: SEQUENCE_MARK });
  const workflowId = newSobreWorkflowId({ uuid: sobreId, rut, environment, firstCfeId: cfeId, others: 0 });
  const message = issueCfesMessage({ id: sobreId, workflowId, rut, environment }, [{ type, cfeId }]);
  const { sequence, numero, startId } = await storeNumbered(
    em,
    { ...cfe, refersTo },
    { id: sobreId, message, ...pace },
  );
  const fillSequence = (text: string): string => text.replace(SEQUENCE_MARK, String(sequence));
  const { searchAttributes } = message;
  const startsAtOnce = startId !== null;
  return {
    cfe: {
      ...cfe,
      sobreId: startsAtOnce ? sobreId : null,
      workflowId: startsAtOnce ? fillSequence(workflowId) : null,
      sequence,
      numero,
      document: { ...cfe.document, numero },
    },
    start: startsAtOnce
      ? {
          ...message,
          id: BigInt(startId),
          workflowId: fillSequence(workflowId),
          searchAttributes: { ...searchAttributes, CfeId: [fillSequence(cfeId)] },
        }
      : null,
  };
}

function rowOfDraft({ enterprise, content, certificate, cae, originals, now, ...draft }: Draft) {
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
    externalId: content.externalId ?? null,
    // The final status of the originals releases a held note; their locks last until this row is stored.
    held: [...originals.values()].some(({ status }) => !isFinal(status)),
    reportOnly: draft.reportOnly,
    credited: draft.credited,
    certificateId: certificate.id,
    signedXml: null,
    digest: null,
    rejection: null,
    stuckReason: null,
    extra: draft.otherExtra ?? null,
    warnings: draft.warnings.length > 0 ? [...draft.warnings] : null,
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

/** Returns the issuer at this moment, with the branch's address: later corrections do not change this CFE. */
function issuerOf(enterprise: Enterprise, branch: Branch | null): Issuer {
  const place = branch ?? enterprise;
  return omitUndefined({
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
    exemptionNorm: enterprise.exemptionNorm ?? undefined,
    vatNotUpToDate: enterprise.vatUpToDate ? undefined : (true as const),
    logoSha256: enterprise.logoSha256 ?? undefined,
  });
}

function caeDataOf(cae: IssuingCae): CaeData {
  const { authorizationNumber, numberStart, numberEnd, expirationDate, specialKind, specialCause } = cae;
  const kind = SPECIAL_KINDS.find((one) => one === specialKind);
  const special = kind && omitUndefined({ kind, cause: specialCause ?? undefined });
  return omitUndefined({ authorizationNumber, numberStart, numberEnd, expirationDate, special });
}
