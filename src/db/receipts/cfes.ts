import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import type { StuckReason } from '../../domain/authority/stuckReason.ts';
import type { CfeDocument } from '../../domain/receipts/cfeDocument.ts';
import type { CfeStatus } from '../../domain/receipts/cfeStatus.ts';
import type { CfeType, Environment } from '../../domain/receipts/cfeTypes.ts';
import { SIGNALS } from '../../temporal.ts';
import { signalSobre } from '../authority/sobres.ts';
import { Cfe } from '../entities/receipts.ts';
import { givenConditions } from '../sql.ts';

/** The parts of a cfe_id with its enterprise: `sequence` counts the CFEs of one type. */
export interface CfeKey {
  rut: string;
  environment: Environment;
  type: CfeType;
  sequence: number;
}

/** The sequence and the fiscal numbers of one type; both are taken in order. */
export type Numbering = Omit<CfeKey, 'sequence'>;

/** Locks the numbering of a type until the open transaction ends, without taking a number: `storeNumbered` waits. */
export async function lockNumbering(em: EntityManager, { rut, environment, type }: Numbering): Promise<void> {
  await em.execute(
    `insert into cfe_sequence as mine (rut, environment, type, last) values (?, ?, ?, 0)
     on conflict (rut, environment, type) do update set last = mine.last`,
    [rut, environment, type],
  );
}

/** Skips `count` sequence numbers of a numbering that the caller has locked. Counts of CFEs leave them out. */
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

/** Returns the CFE with this UUID; throws if it does not exist. */
export function requireCfe(em: EntityManager, id: string): Promise<Cfe> {
  return em.findOneOrFail(Cfe, { id });
}

/** Returns the CFEs with these UUIDs, by UUID. */
export async function findCfesById(em: EntityManager, ids: readonly string[]): Promise<Map<string, Cfe>> {
  const cfes = await em.find(Cfe, { id: { $in: [...new Set(ids)] } });
  return new Map(cfes.map((cfe) => [cfe.id, cfe]));
}

/** Returns the CFE with this cfe_id, or null. */
export function findCfe(em: EntityManager, key: CfeKey): Promise<Cfe | null> {
  return em.findOne(Cfe, { ...key });
}

/** Returns the CFE with this cfe_id and its `extra`, or null. */
export function findCfeWithExtra(em: EntityManager, key: CfeKey): Promise<Cfe | null> {
  return em.findOne(Cfe, { ...key }, { populate: ['extra'] });
}

/** Returns the CFE with this cfe_id, its Idempotency-Key and its request id, or null. */
export function findCfeWithRequest(em: EntityManager, key: CfeKey): Promise<Cfe | null> {
  return em.findOne(Cfe, { ...key }, { populate: ['idempotencyKey', 'requestId'] });
}

/** Returns the CFE with this cfe_id and its XML, or null. */
export function findCfeWithXml(em: EntityManager, key: CfeKey): Promise<Cfe | null> {
  return em.findOne(Cfe, { ...key }, { populate: ['signedXml'] });
}

/** A CFE without its long columns: enough to know which files its receipt has. */
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
  /** Length of its signed XML in bytes; null before signing. */
  readonly xmlBytes: number | null;
}

async function findReceiptWhere(
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

/** Returns the receipt of the CFE with this cfe_id, or null. */
export const findReceipt = (
  em: EntityManager,
  { rut, environment, type, sequence }: CfeKey,
): Promise<Receipt | null> =>
  findReceiptWhere(em, 'rut = ? and environment = ? and type = ? and sequence = ?', [
    rut,
    environment,
    type,
    sequence,
  ]);

/** Returns the receipt whose page address contains this token, or null. */
export const findReceiptByToken = (em: EntityManager, token: string): Promise<Receipt | null> =>
  findReceiptWhere(em, 'receipt_token = ?', [token]);

/** The data of a printed CFE that its holder knows. */
export interface PrintedNumber extends Pick<Cfe, 'rut' | 'type' | 'serie' | 'numero'> {
  /** The first characters of the signature's hash. */
  readonly securityCode: string;
}

/** Returns the receipt of a production CFE with all these data, or null; one look-up, whatever differs. */
export const findPrintedCfe = (
  em: EntityManager,
  { rut, type, serie, numero, securityCode }: PrintedNumber,
): Promise<Receipt | null> =>
  findReceiptWhere(
    em,
    `rut = ? and environment = 'production' and type = ? and serie = ? and numero = ?
     and left(digest, ?::integer) = ?`,
    [rut, type, serie, numero, securityCode.length, securityCode],
  );

/** Reads long columns of a signed CFE, for its files. `columns`: a select list. */
async function readColumns<T extends object>(em: EntityManager, id: string, columns: string): Promise<T> {
  const [row] = await em.execute<T[]>(`select ${columns} from cfe where id = ?`, [id]);
  if (!row) throw new Error(`CFE ${id} does not exist`);
  return row;
}

/** Returns the signed XML of a signed CFE. */
export const readSignedXml = async (em: EntityManager, id: string): Promise<string> =>
  (await readColumns<{ xml: string }>(em, id, 'signed_xml as xml')).xml;

/** Returns the parts of a signed CFE that its printed form shows. */
export const readPrintedParts = (
  em: EntityManager,
  id: string,
): Promise<{ signedXml: string; document: Pick<CfeDocument, 'issuer' | 'adenda'> }> =>
  readColumns(
    em,
    id,
    `signed_xml as "signedXml",
     jsonb_strip_nulls(jsonb_build_object('issuer', document -> 'issuer', 'adenda', document -> 'adenda')) as document`,
  );

/** Returns the document of a CFE as unparsed JSON text, and the hash of the logo on its receipt. */
export const readDocumentText = (
  em: EntityManager,
  id: string,
): Promise<{ json: string; logoSha256: string | null }> =>
  readColumns(em, id, `document::text as json, document #>> '{issuer,logoSha256}' as "logoSha256"`);

/** Returns the UUIDs of those CFEs that have their verdict. */
export async function filterDecided(em: EntityManager, ids: readonly string[]): Promise<string[]> {
  const rows = await em.execute<{ id: string }[]>(
    'select id from cfe where id in (?) and settled_at is not null',
    [[...ids]],
  );
  return rows.map(({ id }) => id);
}

/**
 * Records why CFEs are stuck, or with null that they continue; returns how many were marked. A CFE with a verdict is
 * never marked: a lost attempt may report late. `seen`: skips CFEs that have changed since they were read.
 */
export async function markStuck(
  em: EntityManager,
  ids: readonly string[],
  reason: StuckReason | null,
  seen: Partial<Pick<Cfe, 'sobreId' | 'status'>> = {},
): Promise<number> {
  return em.nativeUpdate(Cfe, { id: { $in: [...ids] }, settledAt: null, ...seen }, { stuckReason: reason });
}

/** Returns the CFE with this cfe_id, locked until the open transaction ends, or null. @internal exported for tests */
export function lockCfe(em: EntityManager, key: CfeKey): Promise<Cfe | null> {
  return em.findOne(Cfe, { ...key }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
}

/** Locks CFEs in the order of their ids until the open transaction ends, as `moveCfes` does. */
export async function lockCfes(em: EntityManager, ids: readonly string[]): Promise<void> {
  await em.execute('select id from cfe where id in (?) order by id for update', [[...ids]]);
}

/** Returns the CFE with this UUID, locked until the open transaction ends; throws if it does not exist. */
export function lockCfeById(em: EntityManager, id: string): Promise<Cfe> {
  return em.findOneOrFail(Cfe, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
}

/** Selects stuck CFEs; all given conditions must hold. */
export interface StuckConditions {
  rut?: string | undefined;
  environment?: Environment | undefined;
  status?: CfeStatus | undefined;
  stuckReason?: StuckReason | undefined;
}

/** Returns at most `limit` stuck CFEs, oldest first. */
export function findStuckCfes(em: EntityManager, filter: StuckConditions, limit: number): Promise<Cfe[]> {
  return em.find(
    Cfe,
    { stuckReason: { $ne: null }, ...givenConditions(filter) },
    { orderBy: { createdAt: 'asc', id: 'asc' }, limit },
  );
}

/**
 * Marks the CFEs of a sobre whose step keeps failing because of a bug, and signals its workflow, in one transaction.
 * Safe to repeat: skips CFEs that have their verdict or already wait for support.
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

/** Clears the mark once the bug is fixed, and signals the workflow, which may be waiting for a slot or a verdict. */
export function clearStuckByBug(em: EntityManager, sobreId: string, now: Date): Promise<void> {
  return em.transactional(async (open) => {
    const cleared = await open.nativeUpdate(Cfe, { sobreId, stuckReason: 'internal' }, { stuckReason: null });
    if (cleared > 0) await signalSobre(open, sobreId, SIGNALS.stepGoesOn, now);
  });
}
