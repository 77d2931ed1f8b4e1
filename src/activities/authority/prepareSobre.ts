/** Signs CFEs, each once, and writes their sobre. */
import { setImmediate } from 'node:timers/promises';
import { LockMode } from '@mikro-orm/postgresql';
import { UnsealError } from '../../crypto/sealed.ts';
import {
  type CfeInSobre,
  endSobre,
  type LoadedSobre,
  listReportOnlyCfes,
  listUnsignedCfes,
  openSobrePerCfe,
  type SignedCfe,
  storePrepared,
  storeSigned,
} from '../../db/authority/sobres.ts';
import { findCurrentSigner, requireSigner } from '../../db/enterprises/certificates.ts';
import type { Certificate } from '../../db/entities/enterprises.ts';
import { Cfe } from '../../db/entities/receipts.ts';
import { isDatabaseOutage } from '../../db/orm.ts';
import { enqueue } from '../../db/outbox.ts';
import { lockCfes } from '../../db/receipts/cfes.ts';
import { writeSobreParts } from '../../dgi/xml/sobre.ts';
import { DEADLINES } from '../../domain/authority/deadlines.ts';
import { MOST_SOBRE_BYTES } from '../../domain/authority/sobre.ts';
import type { CfeDocument } from '../../domain/receipts/cfeDocument.ts';
import { isFinal } from '../../domain/receipts/cfeStatus.ts';
import type { Environment } from '../../domain/receipts/cfeTypes.ts';
import { ORIGINAL_REJECTED } from '../../domain/receipts/rejection.ts';
import { montevideoDate, montevideoTimestamp } from '../../domain/values/montevideo.ts';
import { failpoint } from '../../failpoints.ts';
import { afterMoves, type MoveDeps, storeMoves, writeMoves } from './storeMoves.ts';

/** CFEs signed at a time while they wait for a sobre: the worker has other work. */
const SIGNED_AT_ONCE = 20;
/** Younger CFEs are about to be put into a sobre and signed there. */
const SIGN_AFTER_MILLISECONDS = 1_000;

const KEY_LOST =
  'The CFE cannot be signed: its certificate was revoked, or its private key cannot be opened (is its key-encryption key configured?). Nothing was sent to the authority.';

export interface WriteDeps extends MoveDeps {
  /** The authority's own RUT, the receiver of sobres. */
  authorityRut: Readonly<Record<Environment, string>>;
  /**
   * Writes and signs a document with a stored certificate and verifies the signature. Throws UnsealError if
   * the private key cannot be opened.
   */
  signDocument: (document: CfeDocument, certificate: Certificate) => Signed;
}

interface Signed {
  xml: string;
  digest: string;
}

/** The bytes of the sobre are stored; the sobre or its CFEs have changed; or why its only CFE cannot be signed. */
export type PreparedSobre =
  | { kind: 'written' }
  | { kind: 'changed' }
  | { kind: 'obstacle'; explanation: string };

/**
 * Signs the unsigned CFEs of a sobre and stores its bytes under the next number, in one statement. Dissolves the sobre if a
 * CFE cannot go with the others: that CFE gets a sobre of its own, the others get the next sobre.
 */
export async function prepareSobre(deps: WriteDeps, loaded: LoadedSobre): Promise<PreparedSobre> {
  const { sobre, cfes, signer } = loaded;
  const refused = cfes.filter(
    ({ status, originalStatus }) => status === 'PENDING' && originalStatus === 'REJECTED',
  );
  if (refused.length > 0) await storeMoves(deps, refused.map(toRejection), { sobreId: sobre.id });
  if (refused.length > 0 || cfes.some(({ isIn, status }) => !isIn || status !== 'PENDING'))
    return dissolve(deps, loaded, { signed: [], apart: [] });

  const signed: SignedCfe[] = [];
  const texts: string[] = [];
  const apart: CfeInSobre[] = [];
  for (const cfe of cfes) {
    const result = signOnce(deps, cfe, signer);
    if (result === null && cfes.length === 1) return signWithCurrent(deps, cfe.id);
    if (result instanceof Error && cfes.length === 1) throw result;
    if (result === null || result instanceof Error) apart.push(cfe);
    else if (typeof result === 'string') texts.push(result);
    else {
      signed.push({ id: cfe.id, ...result });
      texts.push(result.xml);
    }
    await setImmediate();
  }
  failpoint('sobre.signed');
  const isEarly = cfes.some(({ originalStatus }) => originalStatus !== null && !isFinal(originalStatus));
  if (apart.length > 0 || isEarly || !fitInOneSobre(texts)) return dissolve(deps, loaded, { signed, apart });
  // A report-only CFE has a sobre only because it could not be signed before; it is never sent.
  if (cfes.some(({ reportOnly }) => reportOnly)) {
    await acceptSigned(deps, cfes, signed);
    return { kind: 'changed' };
  }

  const { before, after } = writeSobreParts({
    receiverRut: deps.authorityRut[sobre.environment],
    issuerRut: sobre.rut,
    createdAt: montevideoTimestamp(deps.clock()),
    certificateDer: signer.certificate,
    signedCfes: texts,
  });
  const idemisor = await storePrepared(deps.orm.em.fork(), sobre.id, {
    signed,
    before,
    after,
    today: montevideoDate(deps.clock()),
  });
  failpoint('sobre.stored');
  if (idemisor === null) return { kind: 'changed' };
  Object.assign(sobre, { state: 'PREPARED', idemisor, xml: `${before}${idemisor}${after}` });
  return { kind: 'written' };
}

/** Returns the signed CFE; null if it needs another certificate than its sobre or the key cannot be opened; or the error of a bug. */
function signOnce(
  deps: WriteDeps,
  { document, signedXml, certificateId }: CfeInSobre,
  signer: Certificate,
): string | Signed | null | Error {
  if (certificateId !== signer.id) return null;
  if (signedXml !== null) return signedXml;
  if (document === null) return new TypeError('a CFE that is not signed came without its document');
  try {
    return signWith(deps, document, signer);
  } catch (error) {
    return error instanceof Error ? error : new Error('signing failed', { cause: error });
  }
}

const toRejection = <T>(cfe: T) => ({ cfe, to: 'REJECTED' as const, reasons: ORIGINAL_REJECTED });

/** Returns whether signed CFEs fit in a sobre that the authority accepts. */
const fitInOneSobre = (texts: readonly string[]): boolean =>
  texts.length === 1 || texts.reduce((bytes, xml) => bytes + Buffer.byteLength(xml), 0) <= MOST_SOBRE_BYTES;

/**
 * Returns an expired slot for a sobre that may have nothing to send. Its run starts at once and does not count as under
 * way; if there is something to send, it takes a real slot.
 */
const expiredSlot = (now: Date): Date => new Date(now.getTime() - DEADLINES.slotUnused);

/** Dissolves an OPEN sobre. The CFEs in `apart` get sobres of their own, whose runs may need support. */
async function dissolve(
  deps: WriteDeps,
  { sobre }: LoadedSobre,
  { signed, apart }: { signed: readonly SignedCfe[]; apart: readonly CfeInSobre[] },
): Promise<PreparedSobre> {
  const now = deps.clock();
  const { rut, environment } = sobre;
  await deps.orm.em.fork().transactional(async (em) => {
    if (!(await endSobre(em, sobre, { state: 'DISSOLVED', now }))) return;
    for (const cfe of signed) await storeSigned(em, cfe);
    const sobres = await openSobrePerCfe(em, { rut, environment, slot: expiredSlot(now), cfes: apart }, now);
    for (const { message } of sobres) enqueue(em, message, now);
  });
  failpoint('sobre.dissolved');
  if (apart.length > 0) deps.outbox.scheduleDispatch();
  deps.gatekeeper.scheduleLook();
  return { kind: 'changed' };
}

/** Returns the signed document; null if the certificate was revoked or its private key cannot be opened. */
function signWith(
  { signDocument }: Pick<WriteDeps, 'signDocument'>,
  document: CfeDocument,
  certificate: Certificate,
): Signed | null {
  if (certificate.revokedAt) return null;
  try {
    return signDocument(document, certificate);
  } catch (error) {
    // Any other error is a bug: the step fails and is retried until a deploy fixes it.
    if (!(error instanceof UnsealError)) throw error;
    return null;
  }
}

/**
 * Signs a CFE whose certificate is revoked or whose key is lost with the enterprise's current certificate, at a new moment of
 * signing (docs/contract.md#signing). The row lock lets only one attempt sign.
 */
function signWithCurrent(deps: WriteDeps, cfeUuid: string): Promise<PreparedSobre> {
  const obstacle = (remedy: string): PreparedSobre => ({
    kind: 'obstacle',
    explanation: `${KEY_LOST} ${remedy}`,
  });
  return deps.orm.em.fork().transactional(async (em): Promise<PreparedSobre> => {
    const cfe = await em.findOneOrFail(Cfe, { id: cfeUuid }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (cfe.digest !== null || isFinal(cfe.status)) return { kind: 'changed' };
    const now = deps.clock();
    const { expirationDate } = cfe.document.cae;
    if (montevideoDate(now) > expirationDate) {
      return obstacle(
        `Its CAE expired on ${expirationDate}, so no other certificate may sign it now: configure the key, then retry; or abandon the CFE.`,
      );
    }
    const certificate = await findCurrentSigner(em, cfe.rut, cfe.environment);
    if (!certificate || certificate.id === cfe.certificateId) {
      return obstacle('Configure the key, or upload a new certificate; then retry.');
    }
    if (now < certificate.notBefore || now > certificate.notAfter) {
      return obstacle(
        'The current certificate of the enterprise is not valid now: upload a valid one; then retry.',
      );
    }
    const document = { ...cfe.document, signedAt: montevideoTimestamp(now) };
    const signed = signWith(deps, document, certificate);
    if (!signed) {
      return obstacle(
        'Nor can the key of the current certificate. Configure the keys, or upload a new certificate; then retry.',
      );
    }
    Object.assign(cfe, {
      certificateId: certificate.id,
      document,
      signedXml: signed.xml,
      digest: signed.digest,
      stuckReason: null,
    });
    return { kind: 'changed' };
  });
}

/**
 * Signs CFEs that wait for a sobre, a few at a time, so that their receipts can be shown. A CFE that cannot
 * be signed gets a sobre of its own, whose run asks for support.
 */
export async function signWaitingCfes(deps: WriteDeps): Promise<void> {
  const now = deps.clock();
  const before = new Date(now.getTime() - SIGN_AFTER_MILLISECONDS);
  for (const { id } of await listUnsignedCfes(deps.orm.em.fork(), before, SIGNED_AT_ONCE)) {
    const em = deps.orm.em.fork();
    const cfe = await em.findOneOrFail(Cfe, { id });
    const certificate = await requireSigner(em, cfe.certificateId);
    const signed = tryOrNull(() => signWith(deps, cfe.document, certificate));
    if (signed) await storeSigned(em, { id, ...signed });
    else await openSobreForUnsigned(deps, cfe, now);
    await setImmediate();
  }
}

/**
 * Signs CFEs that are never sent, a few at a time, and accepts them in the same transaction; rejects notes whose original
 * was rejected. A CFE that cannot be signed gets a sobre of its own, whose run asks for support. Returns whether more may
 * wait. Throws the error of a CFE that cannot be stored, after the others.
 */
export async function acceptReportOnlyCfes(deps: WriteDeps): Promise<boolean> {
  const now = deps.clock();
  const listed = await listReportOnlyCfes(deps.orm.em.fork(), SIGNED_AT_ONCE);
  const signed: SignedCfe[] = [];
  const accepted: Cfe[] = [];
  const refused: Cfe[] = [];
  for (const { id, originalStatus } of listed) {
    const em = deps.orm.em.fork();
    const cfe = await em.findOneOrFail(Cfe, { id });
    if (originalStatus === 'REJECTED') {
      refused.push(cfe);
      continue;
    }
    if (cfe.digest === null) {
      const certificate = await requireSigner(em, cfe.certificateId);
      const result = tryOrNull(() => signWith(deps, cfe.document, certificate));
      if (!result) {
        await openSobreForUnsigned(deps, cfe, now);
        continue;
      }
      signed.push({ id, ...result });
    }
    accepted.push(cfe);
    await setImmediate();
  }
  if (refused.length > 0)
    await storeTogetherOrEach(refused.map(toRejection), (moves) =>
      storeMoves(deps, moves, { sobreId: null }),
    );
  if (accepted.length > 0) {
    failpoint('reported.signed');
    await storeTogetherOrEach(accepted, (cfes) => acceptSigned(deps, cfes, signed));
  }
  return listed.length === SIGNED_AT_ONCE;
}

/** Stores items in one transaction or, if that fails, each in its own, so that none delays others. Throws the first failure. */
async function storeTogetherOrEach<T>(
  items: readonly T[],
  store: (batch: readonly T[]) => Promise<unknown>,
): Promise<void> {
  try {
    await store(items);
  } catch (error) {
    if (items.length === 1 || isDatabaseOutage(error)) throw error;
    const failures: unknown[] = [];
    for (const item of items) await store([item]).catch((failure: unknown) => failures.push(failure));
    if (failures.length > 0) throw failures[0];
  }
}

/** Stores signatures and accepts the CFEs, in one transaction: none is accepted without the bytes that are reported. */
async function acceptSigned(
  deps: WriteDeps,
  cfes: readonly (Cfe | CfeInSobre)[],
  signed: readonly SignedCfe[],
): Promise<void> {
  const stored = await deps.orm.em.fork().transactional(async (em) => {
    const ids = cfes.map(({ id }) => id);
    await lockCfes(em, ids);
    for (const cfe of signed) if (ids.includes(cfe.id)) await storeSigned(em, cfe);
    const moves = cfes.map((cfe) => ({ cfe, to: 'ACCEPTED' as const, reasons: [] }));
    const written = await writeMoves(deps, em, moves, { sobreId: null });
    failpoint('reported.written');
    return written;
  });
  failpoint('moves.stored');
  afterMoves(deps, stored);
}

/** Returns null if `work` throws: the run of the CFE's own sobre then reports the reason. */
function tryOrNull<T>(work: () => T): T | null {
  try {
    return work();
  } catch {
    return null;
  }
}

async function openSobreForUnsigned(deps: WriteDeps, { id }: Cfe, now: Date): Promise<void> {
  await deps.orm.em.fork().transactional(async (em) => {
    const cfe = await em.findOneOrFail(Cfe, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (cfe.sobreId !== null || cfe.digest !== null || cfe.status !== 'PENDING') return;
    const { rut, environment } = cfe;
    const sobres = await openSobrePerCfe(em, { rut, environment, slot: expiredSlot(now), cfes: [cfe] }, now);
    for (const { message } of sobres) enqueue(em, message, now);
    failpoint('apart.opened');
  });
  failpoint('apart.stored');
  deps.outbox.scheduleDispatch();
}
