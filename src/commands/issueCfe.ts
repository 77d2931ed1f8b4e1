import { randomBytes, randomUUID } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { type LockedOriginal, lockOriginal } from '../db/cfes.ts';
import { lockOpenBranch, readReadyFacts } from '../db/enterprises.ts';
import type { Branch, Enterprise } from '../db/entities/enterprises.ts';
import type { CfeRow } from '../db/entities/receipts.ts';
import type { RequestKey } from '../db/idempotency.ts';
import {
  type IssueFacts,
  type IssuingCae,
  type IssuingCertificate,
  issueFacts,
  NumbersExhausted,
  type SobreToOpen,
  storeNumbered,
} from '../db/issue.ts';
import { shareTransaction } from '../db/orm.ts';
import type { LeasedMessage } from '../db/outbox.ts';
import { issueCfesMessage } from '../db/sobres.ts';
import { chooseCae, exemptTaxpayerFaults, noNumbersLeftFault } from '../domain/cae.ts';
import { certificateStatus } from '../domain/certificate.ts';
import { omitUndefined } from '../domain/cfeContent.ts';
import type { CaeData, CfeContent, Issuer } from '../domain/cfeDocument.ts';
import { formatCfeId, SEQUENCE_MARK } from '../domain/cfeId.ts';
import { type CfeReading, readCfeRequest, referencedCfe } from '../domain/cfeReading.ts';
import { checkCfe } from '../domain/cfeRules.ts';
import { isFinal } from '../domain/cfeStatus.ts';
import type { Environment } from '../domain/cfeTypes.ts';
import { unknownBranch } from '../domain/enterpriseRules.ts';
import {
  missingReadyFacts,
  NOT_AUTHORIZED_FAULT,
  notReadyFault,
  SUSPENDED_FAULT,
} from '../domain/enterpriseStatus.ts';
import { limitFaults } from '../domain/faults.ts';
import { montevideoDate, montevideoTimestamp } from '../domain/montevideo.ts';
import { type Fault, invalidInput, Refusal } from '../errors.ts';
import { failpoint } from '../failpoints.ts';
import { newSobreWorkflowId } from '../temporal.ts';
import type { CommandDeps } from './steps/deps.ts';

/** How sends follow one another, for a CFE that may go at once. */
type Pace = Pick<SobreToOpen, 'spacingMilliseconds' | 'nearMilliseconds'>;

/** What issuing needs beside the rest. */
export interface IssueDeps extends CommandDeps {
  readonly outbox: CommandDeps['outbox'] & {
    /** Starts in the background what was just stored, its row leased; never throws. */
    dispatchStored(message: LeasedMessage): void;
  };
  readonly pace: Pace;
}

interface IssueCfeInput {
  /** The calling account. */
  accountId: string;
  rut: string;
  environment: Environment;
  /** The body as it was read from JSON, numbers as `JsonNumber`. */
  body: unknown;
  /** Kept on the row of the CFE, for ever. */
  idempotency?: RequestKey | null;
  /** X-Request-Id, by which the CFE can be found. */
  requestId?: string | null;
}

/** A request that is judged and not issued. */
interface ValidateCfeInput extends Omit<IssueCfeInput, 'idempotency' | 'requestId'> {
  /** Certificate and CAE that it lacks count as had: issuing obtains them first (`obtainsPapers`). */
  papersToCome: boolean;
}

/**
 * Issues a CFE: judges the request by every rule, then takes the next number and stores the CFE, PENDING, in one
 * statement. Refuses with every fault at once (INVALID_INPUT), and then no number is taken; an
 * unknown RUT is NOT_FOUND. Throws KeyTaken where the key stands for something already.
 */
export async function issueCfe(deps: IssueDeps, input: IssueCfeInput): Promise<CfeRow> {
  failpoint('issue.begun');
  const { cfe, start } = await issueWhileNumbersLast(deps, input);
  failpoint('issue.stored');
  if (start) deps.outbox.dispatchStored(start);
  return cfe;
}

/**
 * Judges a request as issueCfe does, and undoes whatever that touched: no number is taken and nothing stored. Answers
 * what it was read as; refuses as issueCfe refuses.
 */
export async function validateCfe(deps: CommandDeps, input: ValidateCfeInput): Promise<CfeContent> {
  const em = deps.orm.em.fork();
  await em.begin();
  try {
    return await judged({ ...deps, orm: shareTransaction(em) }, input, async (_, { content }) => content);
  } finally {
    await em.rollback();
  }
}

/** Where others took the last numbers of the CAE since the request was judged, it is judged anew: by what is left. */
async function issueWhileNumbersLast(deps: IssueDeps, input: IssueCfeInput): Promise<NumberedCfe> {
  for (;;) {
    try {
      return await judged(deps, input, (em, { draft }) => {
        if (!draft) throw new Error('a CFE is issued with papers that are still to come');
        return numberCfe(em, draft, deps.pace);
      });
    } catch (error) {
      if (!(error instanceof NumbersExhausted)) throw error;
    }
  }
}

// Judging.

/**
 * Does `work` with a request that has no fault. A note locks the CFE that it corrects, and a CFE of a further branch that
 * branch, from before it is judged until the work is done: that takes a transaction.
 */
function judged<T>(deps: CommandDeps, input: JudgedInput, work: Work<T>): Promise<T> {
  const now = deps.clock();
  const reading = readCfeRequest(input.body, montevideoDate(now));
  const named = referencedCfe(reading);
  const keyId = deps.origin?.keyId ?? null;
  const em = deps.orm.em.fork();
  if (!named && reading.parts['extra.branch'] === undefined) {
    return judgeAndWork(em, { input, keyId, reading, now, original: undefined }, work);
  }
  const { rut, environment } = input;
  return em.transactional(async (em) => {
    const original = named && (await lockOriginal(em, { rut, environment, ...named }));
    return judgeAndWork(em, { input, keyId, reading, now, original }, work);
  });
}

type JudgedInput = IssueCfeInput & Partial<Pick<ValidateCfeInput, 'papersToCome'>>;

/** All that the CFE of a request without faults is made from. */
interface Draft {
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

/** A request without faults. */
interface Judged {
  readonly content: CfeContent;
  /** What its CFE is made from; null where papers are still to come. */
  readonly draft: Draft | null;
}

type Work<T> = (em: EntityManager, judged: Judged) => Promise<T>;

interface Request {
  readonly input: JudgedInput;
  /** The API key of whoever asks. */
  readonly keyId: string | null;
  readonly reading: CfeReading;
  readonly now: Date;
  /** The CFE that it refers to: null when there is none of that cfe_id, undefined when it names none. */
  readonly original: LockedOriginal | null | undefined;
}

async function judgeAndWork<T>(em: EntityManager, request: Request, work: Work<T>): Promise<T> {
  const found = await judge(em, request);
  failpoint('issue.judged');
  return work(em, found);
}

async function judge(em: EntityManager, { input, keyId, reading, now, original }: Request): Promise<Judged> {
  const { accountId, rut, environment, idempotency = null, requestId = null, papersToCome = false } = input;
  const today = montevideoDate(now);
  const { cfe_type: type = null, emission_date: emissionDate = today } = reading.parts;
  const year = Number(emissionDate.slice(0, 4));
  const facts = await issueFacts(em, { rut, environment, type, today, year });
  if (!facts) throw new Refusal('NOT_FOUND', `No enterprise with RUT ${rut} is registered.`);
  const { enterprise, certificate, uiValue } = facts;
  // The first migration loads one.
  if (!uiValue) throw new Error('no UI value is loaded');

  const signing = papersToCome ? TO_COME : certificate;
  const ofIssuer = await issuerFaults(em, { enterprise, certificate: signing, environment, now });
  const branch = await branchNamed(em, enterprise, reading, now);
  const checked = checkCfe(reading, { today, uiValue, original });
  const { cae, faults: ofCae } = judgeCae(facts, reading, { today, papersToCome });
  const faults = [...ofIssuer, ...(checked.ok ? [] : checked.faults), ...branch.faults, ...ofCae];
  if (faults.length > 0 || !checked.ok) throw invalidInput(limitFaults(faults));
  const { content, otherExtra } = checked;
  if (!certificate || !cae) return { content, draft: null };
  const draft: Draft = {
    accountId,
    environment,
    enterprise,
    certificate,
    branch: branch.found,
    cae,
    content,
    otherExtra,
    original: original ?? null,
    idempotency,
    requestId,
    keyId,
    now,
  };
  return { content, draft };
}

/** The certificate that an enterprise will have got before it signs. */
const TO_COME = { notAfter: new Date(8.64e15) };

/** The branch that the request names where it is not the first: locked as long as the transaction is open. */
async function branchNamed(
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

/** The CAE that gives the next number, and what speaks against it; neither where the request names no type. */
function judgeCae(
  { caes }: IssueFacts,
  { parts }: CfeReading,
  { today, papersToCome }: { today: string; papersToCome: boolean },
) {
  const faults: Fault[] = [];
  const cae = chooseCae(caes, today);
  if (!cae && !papersToCome && parts.cfe_type !== undefined) faults.push(noNumbersLeftFault(parts.cfe_type));
  const lines = (parts.kinds ?? []).map(({ iva_type }) => ({ ivaType: iva_type }));
  if (cae) faults.push(...exemptTaxpayerFaults(cae.specialKind, lines));
  return { cae, faults };
}

/** A certificate as far as it is judged here. */
type Expiring = { readonly notAfter: Date };

/**
 * What keeps an enterprise from issuing at `now`: it is suspended, it is not READY (production only; the
 * missing facts are named), the authority withdrew its permission (production only), or its certificate cannot sign any
 * more.
 */
async function issuerFaults(
  em: EntityManager,
  issuer: { enterprise: Enterprise; certificate: Expiring | null; environment: Environment; now: Date },
): Promise<Fault[]> {
  const { enterprise, certificate, environment, now } = issuer;
  if (enterprise.status === 'SUSPENDED') return [SUSPENDED_FAULT];
  if (enterprise.status === 'PENDING' && environment === 'production') {
    return [notReadyFault(missingReadyFacts(await readReadyFacts(em, enterprise, now)))];
  }
  const withdrawn = environment === 'production' && !enterprise.permissions.includes('PROD');
  return [...(withdrawn ? [NOT_AUTHORIZED_FAULT] : []), ...signingFaults(certificate, now)];
}

/** What keeps a certificate from signing at `now`; READY is not lost with it, so issuing must say so itself. */
function signingFaults(certificate: Expiring | null, now: Date): Fault[] {
  const status = certificateStatus(certificate, now);
  if (status === 'NONE') {
    return [fault('enterprise.certificate_missing', 'The enterprise has no certificate; upload one.')];
  }
  if (status === 'EXPIRED') {
    const message = 'The certificate of the enterprise has expired; upload a new one.';
    return [fault('enterprise.certificate_expired', message)];
  }
  return [];
}

const fault = (code: string, message: string): Fault => ({ path: '', code, message });

// Numbering.

/** A CFE that was numbered and, where it goes at once, what starts the run of its sobre. */
interface NumberedCfe {
  readonly cfe: CfeRow;
  readonly start: LeasedMessage | null;
}

/**
 * Stores the CFE of a draft under the next number of its CAE (`storeNumbered`). It is signed as of the moment at which
 * certificate and CAE were judged, so inside the validity of both.
 */
async function numberCfe(em: EntityManager, draft: Draft, pace: Pace): Promise<NumberedCfe> {
  const cfe = unnumbered(draft);
  const { rut, environment, type } = cfe;
  const sobreId = randomUUID();
  const cfeId = formatCfeId({ type, sequence: SEQUENCE_MARK });
  const workflowId = newSobreWorkflowId({ uuid: sobreId, rut, environment, firstCfeId: cfeId, others: 0 });
  const message = issueCfesMessage({ id: sobreId, workflowId, rut, environment }, [{ type, cfeId }]);
  const { sequence, numero, startId } = await storeNumbered(em, cfe, { id: sobreId, message, ...pace });
  const placed = (text: string): string => text.replace(SEQUENCE_MARK, String(sequence));
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
    logoSha256: enterprise.logoSha256 ?? undefined,
  });
}

function caeDataOf(cae: IssuingCae): CaeData {
  const { authorizationNumber, numberStart, numberEnd, expirationDate, specialKind, specialCause } = cae;
  const special =
    specialKind === 1 && specialCause ? { special: { kind: specialKind, cause: specialCause } as const } : {};
  return { authorizationNumber, numberStart, numberEnd, expirationDate, ...special };
}
