/** Exports of a month of receipts: their content and their rows. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import type { CfeStatus } from '../../domain/receipts/cfeStatus.ts';
import type { CfeType, Environment } from '../../domain/receipts/cfeTypes.ts';
import { daysOfMonth, EXPORT_KEPT_DAYS } from '../../domain/receipts/receiptExport.ts';
import { DAYS_AHEAD, DAYS_BACK } from '../../domain/receipts/rules/general.ts';
import { addDays, startOfDay } from '../../domain/values/montevideo.ts';
import { exportWorkflowId, type WorkflowMessage } from '../../temporal.ts';
import { Enterprise } from '../entities/enterprises.ts';
import { ReceiptExport, ReceiptExportPart } from '../entities/receipts.ts';
import type { ListPage } from '../page.ts';
import type { ViewerAccounts } from '../people/roles.ts';
import { conditionBuilder, type Fragment, givenConditions, runSql, whereAll } from '../sql.ts';

const DAY_MILLISECONDS = 86_400_000;

/** A receipt for a file; `signedXml` is null if it was never signed. */
export interface ExportedCfe {
  readonly id: string;
  readonly type: CfeType;
  readonly sequence: number;
  readonly serie: string;
  readonly numero: number;
  readonly status: CfeStatus;
  readonly createdAt: Date;
  readonly signedXml: string | null;
}

type ExportedMonth = Pick<ReceiptExport, 'rut' | 'environment' | 'month' | 'createdAt'>;

const cfe = conditionBuilder<'cfe'>();

/** A CFE is created near its date of emission: the index by creation time leads to the month. */
function monthCondition({ rut, environment, month, createdAt }: ExportedMonth): Fragment {
  const { first, last } = daysOfMonth(month);
  return whereAll(
    cfe.and({ rut, environment }),
    cfe.between('emission_date', first, last),
    cfe('created_at', '>=', startOfDay(addDays(first, -DAYS_AHEAD))),
    cfe('created_at', '<', startOfDay(addDays(last, DAYS_BACK + 1))),
    cfe('created_at', '<', createdAt),
  );
}

/** Counts the receipts with a date in this month that were created before the export. */
export async function countCfesOfMonth(em: EntityManager, exported: ExportedMonth): Promise<number> {
  const [row] = await runSql(em)<{ n: number }>`
    select count(*)::int as n from cfe where ${monthCondition(exported)}`;
  return row?.n ?? 0;
}

/** Returns the next receipts after `lastCfe`, by creation time. */
export async function listCfesOfMonth(
  em: EntityManager,
  exported: ExportedMonth & Pick<ReceiptExport, 'lastCfe'>,
  limit: number,
): Promise<ExportedCfe[]> {
  const condition = whereAll(
    monthCondition(exported),
    exported.lastCfe !== null &&
      sql`(created_at, id) > (select created_at, id from cfe where id = ${exported.lastCfe})`,
  );
  const rows = await runSql(em)<Omit<ExportedCfe, 'createdAt'> & { createdAt: string }>`
    select id, type, sequence, serie, numero, status, created_at as "createdAt", signed_xml as "signedXml"
    from cfe where ${condition} order by created_at, id limit ${limit}`;
  return rows.map((row) => ({ ...row, createdAt: new Date(row.createdAt) }));
}

/** Returns the running export of this month, with or without printed forms, or null. */
export const findRunningExport = (
  em: EntityManager,
  request: Pick<ReceiptExport, 'rut' | 'environment' | 'month' | 'withPdfs'>,
): Promise<ReceiptExport | null> => {
  const { rut, environment, month, withPdfs } = request;
  return em.findOne(ReceiptExport, { rut, environment, month, withPdfs, state: 'RUNNING' });
};

/** Returns the account that owns an enterprise, and by which running exports are limited. */
export async function findExportOwner(em: EntityManager, rut: string): Promise<string> {
  return (await em.findOneOrFail(Enterprise, { rut })).ownerAccountId;
}

/** Counts running exports of all enterprises of an account. */
export async function countRunningExports(em: EntityManager, accountId: string): Promise<number> {
  const [row] = await em.execute<{ n: number }[]>(
    `select count(*)::int as n from receipt_export
     where state = 'RUNNING' and rut in (select rut from enterprise where owner_account_id = ?)`,
    [accountId],
  );
  return row?.n ?? 0;
}

/** Counts an enterprise's exports that are running or still available. */
export const countKeptExports = (em: EntityManager, rut: string, now: Date): Promise<number> =>
  em.count(ReceiptExport, {
    rut,
    $or: [{ state: 'RUNNING' }, { state: 'DONE', endedAt: { $gt: expiryCutoff(now) } }],
  });

/** Returns the time before which finished files have expired. */
const expiryCutoff = (now: Date): Date => new Date(now.getTime() - EXPORT_KEPT_DAYS * DAY_MILLISECONDS);

/** Returns whether a file is available for download. */
export const isExportKept = (
  { state, endedAt }: Pick<ReceiptExport, 'state' | 'endedAt'>,
  now: Date,
): boolean => state === 'DONE' && endedAt !== null && endedAt > expiryCutoff(now);

/** Returns the export with this id, or null. */
export const findExport = (em: EntityManager, id: string): Promise<ReceiptExport | null> =>
  em.findOne(ReceiptExport, { id }, { refresh: true });

/** Returns the running exports, of one enterprise or of all. */
export const listRunningExports = (em: EntityManager, rut: string | undefined): Promise<ReceiptExport[]> =>
  em.find(
    ReceiptExport,
    { state: 'RUNNING', ...givenConditions({ rut }) },
    { orderBy: { createdAt: 'asc', id: 'asc' } },
  );

/** Returns the message that starts the workflow of an export. */
export const exportMessage = ({
  id,
  rut,
  environment,
}: Pick<ReceiptExport, 'id' | 'rut' | 'environment'>): WorkflowMessage => ({
  workflow: 'exportReceipts',
  workflowId: exportWorkflowId(id),
  input: { exportId: id },
  searchAttributes: { EnterpriseRut: rut, Environment: environment },
});

/** SQL: one of these accounts is more than a VIEWER at the enterprise of a row; null: operators see all. */
function mayActCondition(accounts: ViewerAccounts): Fragment {
  if (accounts === null) return sql`true`;
  return sql`rut in (select e.rut from enterprise e where e.owner_account_id = any (${accounts}::uuid[])
    union all select g.rut from enterprise_grant g where g.account_id = any (${accounts}::uuid[]) and g.role <> 'VIEWER')`;
}

/**
 * Returns exports, newest first, of enterprises at which one of these accounts is more than a VIEWER; null: of all.
 */
export async function listExports(
  em: EntityManager,
  accounts: ViewerAccounts,
  {
    rut,
    environment,
    month,
  }: {
    readonly rut?: string | undefined;
    readonly environment?: Environment | undefined;
    readonly month?: string | undefined;
  },
  { after, limit }: ListPage,
): Promise<ReceiptExport[]> {
  const condition = whereAll(
    mayActCondition(accounts),
    conditionBuilder<'receipt_export'>().and({ rut, environment, month }),
    after && sql`(created_at, id) < (${after[0]}, ${after[1]})`,
  );
  const rows = await runSql(em)<{ id: string }>`
    select id from receipt_export where ${condition} order by created_at desc, id desc limit ${limit}`;
  return em.find(
    ReceiptExport,
    { id: { $in: rows.map(({ id }) => id) } },
    { orderBy: { createdAt: 'desc', id: 'desc' } },
  );
}

/** Returns enterprises at which one of these accounts is more than a VIEWER, by name. */
export async function listExportableEnterprises(
  em: EntityManager,
  accounts: readonly string[],
  limit: number,
): Promise<{ rut: string; legalName: string }[]> {
  return runSql(em)<{ rut: string; legalName: string }>`
    select rut, legal_name as "legalName" from enterprise where ${mayActCondition(accounts)}
    order by legal_name, rut limit ${limit}`;
}

/** The part that one step adds to a file. */
export interface NewExportPart {
  readonly entries: number;
  readonly content: Buffer;
  readonly directory: Buffer;
  /** How many receipts were processed, the last of them, and lines about those that are left out. */
  readonly done: number;
  readonly lastCfe: string | null;
  readonly leftOut: readonly string[];
  /** Whether the file is complete with this part. */
  readonly isLast: boolean;
}

/**
 * Stores the next part of a file. Returns false, and stores nothing, if another attempt has stored it, or the export
 * has ended: no receipt appears twice.
 */
export async function addExportPart(
  em: EntityManager,
  to: Pick<ReceiptExport, 'id' | 'parts'>,
  { entries, content, directory, done, lastCfe, leftOut, isLast }: NewExportPart,
  now: Date,
): Promise<boolean> {
  const at = now.toISOString();
  const { affectedRows } = await em.execute<{ affectedRows: number }>(
    `with moved as (
       update receipt_export set parts = parts + 1, entries = entries + ?, content_bytes = content_bytes + ?,
         directory_bytes = directory_bytes + ?, done = done + ?, left_out = left_out + ?,
         last_cfe = coalesce(?::uuid, last_cfe), moved_at = ?::timestamptz
         ${isLast ? `, state = 'DONE', ended_at = ?::timestamptz` : ''}
       where id = ? and parts = ? and state = 'RUNNING' returning id, parts)
     insert into receipt_export_part (export_id, place, content, directory, left_out)
       select id, parts, ?::bytea, ?::bytea, ? from moved`,
    [
      entries,
      content.length,
      directory.length,
      done,
      leftOut.length,
      lastCfe,
      at,
      ...(isLast ? [at] : []),
      to.id,
      to.parts,
      content,
      directory,
      leftOut.join(''),
    ],
    'run',
  );
  return affectedRows === 1;
}

/** Returns all lines about receipts that are left out, in order. */
export async function readLeftOutLines(em: EntityManager, id: string): Promise<string> {
  const [row] = await em.execute<{ text: string | null }[]>(
    `select string_agg(left_out, '' order by place) as text from receipt_export_part where export_id = ?`,
    [id],
  );
  return row?.text ?? '';
}

/** Stops a running export; returns false if it has already ended. */
export async function markExportStopped(em: EntityManager, id: string, now: Date): Promise<boolean> {
  const where = { id, state: 'RUNNING' } as const;
  return (
    (await em.nativeUpdate(ReceiptExport, where, { state: 'STOPPED', movedAt: now, endedAt: now })) === 1
  );
}

/** Returns the size of a complete file, in bytes. */
export const exportBytes = ({
  contentBytes,
  directoryBytes,
}: Pick<ReceiptExport, 'contentBytes' | 'directoryBytes'>): number => contentBytes + directoryBytes;

/**
 * Yields the bytes of a complete file: the entries of all parts, then the directory. Throws if a part has been
 * deleted meanwhile.
 */
export async function* streamExport(
  fork: () => EntityManager,
  { id, parts }: Pick<ReceiptExport, 'id' | 'parts'>,
): AsyncGenerator<Uint8Array> {
  for (const field of ['content', 'directory'] as const) {
    for (let place = 1; place <= parts; place += 1) {
      const part = await fork().findOne(ReceiptExportPart, { exportId: id, place }, { fields: [field] });
      if (!part) throw new Error(`part ${place} of the export ${id} was deleted`);
      yield part[field];
    }
  }
}
