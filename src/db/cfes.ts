import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import type { CfeDocument } from '../domain/cfeDocument.ts';
import type { Original } from '../domain/cfeRule.ts';
import type { CfeStatus } from '../domain/cfeStatus.ts';
import { CFE_TYPE_NAMES, type CfeType, cfeTypeRow, type Environment } from '../domain/cfeTypes.ts';
import type { StuckReason } from '../domain/stuckReason.ts';
import { SIGNALS } from '../temporal.ts';
import { Cfe } from './entities/receipts.ts';
import { signalSobre } from './sobres.ts';

/** A CFE as its cfe_id names it: the place in the sequence of its type. */
export interface CfeKey {
  rut: string;
  environment: Environment;
  type: CfeType;
  sequence: number;
}

/** The numbering of one type: its places, which cfe_ids show, and its fiscal numbers, given one after the other. */
export type Numbering = Omit<CfeKey, 'sequence'>;

/** Locks the numbering of a type until the open transaction ends, without taking a place: `storeNumbered` waits meanwhile. */
export async function lockNumbering(em: EntityManager, { rut, environment, type }: Numbering): Promise<void> {
  await em.execute(
    `insert into cfe_sequence as mine (rut, environment, type, last) values (?, ?, ?, 0)
     on conflict (rut, environment, type) do update set last = mine.last`,
    [rut, environment, type],
  );
}

/** Skips `count` places of a numbering that the caller has locked; they are counted nowhere. */
export async function skipSequences(
  em: EntityManager,
  { rut, environment, type }: Numbering,
  count: number,
): Promise<void> {
  await em.execute(
    `update cfe_sequence set last = last + ?, skipped = skipped + ?
     where rut = ? and environment = ? and type = ?`,
    [count, count, rut, environment, type],
  );
}

/** The CFE with this UUID; throws where there is none. */
export function requireCfe(em: EntityManager, id: string): Promise<Cfe> {
  return em.findOneOrFail(Cfe, { id });
}

/** The CFEs with these UUIDs, by them. */
export async function findCfesById(em: EntityManager, ids: readonly string[]): Promise<Map<string, Cfe>> {
  const cfes = await em.find(Cfe, { id: { $in: [...new Set(ids)] } });
  return new Map(cfes.map((cfe) => [cfe.id, cfe]));
}

/** The CFE that a cfe_id names, or null. */
export function findCfe(em: EntityManager, key: CfeKey): Promise<Cfe | null> {
  return em.findOne(Cfe, { ...key });
}

/** The CFE that a cfe_id names, or null, with what its request brought along. */
export function findCfeWithRequest(em: EntityManager, key: CfeKey): Promise<Cfe | null> {
  return em.findOne(Cfe, { ...key }, { populate: ['idempotencyKey', 'requestId'] });
}

/** The CFE that a cfe_id names, or null, with its XML. */
export function findCfeWithXml(em: EntityManager, key: CfeKey): Promise<Cfe | null> {
  return em.findOne(Cfe, { ...key }, { populate: ['signedXml'] });
}

/** A CFE as far as it tells which files of its receipt there are: without what is long in it. */
export interface Receipt
  extends Pick<
    Cfe,
    | 'id'
    | 'accountId'
    | 'rut'
    | 'environment'
    | 'type'
    | 'serie'
    | 'numero'
    | 'status'
    | 'rejection'
    | 'digest'
    | 'receiptToken'
  > {
  /** Length of its signed XML in bytes; null before it is signed. */
  readonly xmlBytes: number | null;
}

async function receiptWhere(
  em: EntityManager,
  condition: string,
  values: readonly unknown[],
): Promise<Receipt | null> {
  const [row] = await em.execute<Receipt[]>(
    `select id, account_id as "accountId", rut, environment, type, serie, numero, status, rejection, digest,
       receipt_token as "receiptToken", octet_length(signed_xml) as "xmlBytes"
     from cfe where ${condition}`,
    [...values],
  );
  return row ?? null;
}

/** The receipt of the CFE that a cfe_id names, or null. */
export const findReceipt = (
  em: EntityManager,
  { rut, environment, type, sequence }: CfeKey,
): Promise<Receipt | null> =>
  receiptWhere(em, 'rut = ? and environment = ? and type = ? and sequence = ?', [
    rut,
    environment,
    type,
    sequence,
  ]);

/** The receipt whose page has this token, or null. */
export const findReceiptByToken = (em: EntityManager, token: string): Promise<Receipt | null> =>
  receiptWhere(em, 'receipt_token = ?', [token]);

/** The long parts of a signed CFE that its files are made from; which of them, by `columns`. */
async function longParts<T extends object>(em: EntityManager, id: string, columns: string): Promise<T> {
  const [row] = await em.execute<T[]>(`select ${columns} from cfe where id = ?`, [id]);
  if (!row) throw new Error(`CFE ${id} is gone`);
  return row;
}

/** The signed XML of a CFE that has one. */
export const readSignedXml = async (em: EntityManager, id: string): Promise<string> =>
  (await longParts<{ xml: string }>(em, id, 'signed_xml as xml')).xml;

/** What is printed of a signed CFE. */
export const readPrintedParts = (
  em: EntityManager,
  id: string,
): Promise<{ signedXml: string; document: Pick<CfeDocument, 'issuer' | 'adenda'> }> =>
  longParts(
    em,
    id,
    `signed_xml as "signedXml",
     jsonb_strip_nulls(jsonb_build_object('issuer', document -> 'issuer', 'adenda', document -> 'adenda')) as document`,
  );

/** The document of a CFE as JSON text, unread, and the picture that its receipt shows. */
export const readDocumentText = (
  em: EntityManager,
  id: string,
): Promise<{ json: string; logoSha256: string | null }> =>
  longParts(em, id, `document::text as json, document #>> '{issuer,logoSha256}' as "logoSha256"`);

/** Those of the CFEs with these UUIDs that have their verdict. */
export async function filterDecided(em: EntityManager, ids: readonly string[]): Promise<string[]> {
  const rows = await em.execute<{ id: string }[]>(
    'select id from cfe where id in (?) and settled_at is not null',
    [[...ids]],
  );
  return rows.map(({ id }) => id);
}

/**
 * Records why CFEs are stuck, or, with null, that they go on. One that has its verdict is never stuck, whatever an attempt
 * that was thought lost reports late. `seen`: one that stands otherwise by now is left alone. Answers how many were marked.
 */
export async function markStuck(
  em: EntityManager,
  ids: readonly string[],
  reason: StuckReason | null,
  seen: Partial<Pick<Cfe, 'sobreId' | 'status'>> = {},
): Promise<number> {
  return em.nativeUpdate(Cfe, { id: { $in: [...ids] }, settledAt: null, ...seen }, { stuckReason: reason });
}

/**
 * The CFE that a note corrects, locked until the open transaction ends, so that its status cannot change and notes on it
 * follow one another. @internal exported for tests
 */
export function lockCfe(em: EntityManager, key: CfeKey): Promise<Cfe | null> {
  return em.findOne(Cfe, { ...key }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
}

/** The CFE with this UUID, locked until the open transaction ends; throws where there is none. */
export function lockCfeById(em: EntityManager, id: string): Promise<Cfe> {
  return em.findOneOrFail(Cfe, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
}

/**
 * What the notes of these types took from the original so far: decimal text in the original's currency, not rounded,
 * over pesos by the rates of both documents where the currencies differ. Rejected notes took nothing.
 */
async function referencedAmount(
  em: EntityManager,
  originalId: string,
  types: readonly CfeType[],
): Promise<string> {
  const [row] = await em.execute<{ sum: string }[]>(
    `select coalesce(sum(
       case when note.currency = original.currency then note.pay_amount
       else note.pay_amount * (note.document -> 'totals' ->> 'exchangeRate')::numeric
         / (original.document -> 'totals' ->> 'exchangeRate')::numeric(30, 20) end), 0)::text as sum
     from cfe note join cfe original on original.id = note.reference_id
     where note.reference_id = ? and note.type in (?) and note.status <> 'REJECTED'`,
    [originalId, [...types]],
  );
  return row?.sum ?? '0';
}

/** Which stuck CFEs to act on; every condition that is given must hold. */
export interface StuckCfeFilter {
  rut?: string | undefined;
  environment?: Environment | undefined;
  status?: CfeStatus | undefined;
  stuckReason?: StuckReason | undefined;
}

/** Stuck CFEs, oldest first, at most `limit`. */
export function findStuckCfes(em: EntityManager, filter: StuckCfeFilter, limit: number): Promise<Cfe[]> {
  const given = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined));
  return em.find(
    Cfe,
    { stuckReason: { $ne: null }, ...given },
    { orderBy: { createdAt: 'asc', id: 'asc' }, limit },
  );
}

const CREDIT_NOTES = CFE_TYPE_NAMES.filter((type) => cfeTypeRow(type).note === 'credit');

/** The CFE that a note corrects, with what the rules want to know of it. */
export interface LockedOriginal extends Original {
  readonly id: string;
}

/**
 * The CFE that a note names, locked until the open transaction ends: its status stands, and notes against it follow
 * one another, so that together they take no more than it has. Null when there is none.
 */
export async function lockOriginal(em: EntityManager, key: CfeKey): Promise<LockedOriginal | null> {
  const cfe = await lockCfe(em, key);
  if (!cfe) return null;
  const { id, document, status } = cfe;
  return { id, document, status, credited: await referencedAmount(em, id, CREDIT_NOTES) };
}

/**
 * Marks the CFEs of a sobre whose step keeps failing by a mistake of ours, and has its run told, in one transaction: once,
 * however often it is called. Those that have their verdict, or wait for support already, stay as they are.
 */
export function markStuckByBug(em: EntityManager, sobreId: string, now: Date): Promise<void> {
  return em.transactional(async (open) => {
    const marked = await open.nativeUpdate(
      Cfe,
      { sobreId, settledAt: null, stuckReason: null },
      { stuckReason: 'internal' },
    );
    if (marked > 0) await signalSobre(open, sobreId, SIGNALS.stepFails, now);
  });
}

/** The mistake is mended: the CFEs wait for nobody, and the run is told, as it may be waiting for a slot or a verdict. */
export function clearStuckByBug(em: EntityManager, sobreId: string, now: Date): Promise<void> {
  return em.transactional(async (open) => {
    const cleared = await open.nativeUpdate(Cfe, { sobreId, stuckReason: 'internal' }, { stuckReason: null });
    if (cleared > 0) await signalSobre(open, sobreId, SIGNALS.stepGoesOn, now);
  });
}
