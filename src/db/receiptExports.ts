/** Months of receipts as files: what goes into them, and their rows. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import type { CfeStatus } from '../domain/cfeStatus.ts';
import type { CfeType, Environment } from '../domain/cfeTypes.ts';
import { addDays, startOfDay } from '../domain/montevideo.ts';
import { daysOfMonth, EXPORT_KEPT_DAYS } from '../domain/receiptExport.ts';
import { DAYS_AHEAD, DAYS_BACK } from '../domain/rules/general.ts';
import { exportWorkflowId, type WorkflowMessage } from '../temporal.ts';
import { Enterprise } from './entities/enterprises.ts';
import { ReceiptExport, ReceiptExportPart } from './entities/receipts.ts';
import type { Seen } from './roles.ts';
import { conditionBuilder, type Fragment, runSql, whereAll } from './sql.ts';

const DAY_MILLISECONDS = 86_400_000;

/** A receipt as it goes into a file; `signedXml` is null where it was never signed. */
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

type Whose = Pick<ReceiptExport, 'rut' | 'environment' | 'month' | 'createdAt'>;

const cfe = conditionBuilder<'cfe'>();

/** A CFE is taken near its date of emission: the index of those of an enterprise by moment leads to a month's. */
function ofMonth({ rut, environment, month, createdAt }: Whose): Fragment {
  const { first, last } = daysOfMonth(month);
  return whereAll(
    cfe.and({ rut, environment }),
    cfe.between('emission_date', first, last),
    cfe('created_at', '>=', startOfDay(addDays(first, -DAYS_AHEAD))),
    cfe('created_at', '<', startOfDay(addDays(last, DAYS_BACK + 1))),
    cfe('created_at', '<', createdAt),
  );
}

/** How many receipts are dated in that month and were taken before the file was asked for. */
export async function countCfesOfMonth(em: EntityManager, of: Whose): Promise<number> {
  const [row] = await runSql(em)<{ n: number }>`
    select count(*)::int as n from cfe where ${ofMonth(of)}`;
  return row?.n ?? 0;
}

/** The next of them behind `lastCfe`, in the order in which they were taken. */
export async function listCfesOfMonth(
  em: EntityManager,
  of: Whose & Pick<ReceiptExport, 'lastCfe'>,
  limit: number,
): Promise<ExportedCfe[]> {
  const wanted = whereAll(
    ofMonth(of),
    of.lastCfe !== null && sql`(created_at, id) > (select created_at, id from cfe where id = ${of.lastCfe})`,
  );
  const rows = await runSql(em)<Omit<ExportedCfe, 'createdAt'> & { createdAt: string }>`
    select id, type, sequence, serie, numero, status, created_at as "createdAt", signed_xml as "signedXml"
    from cfe where ${wanted} order by created_at, id limit ${limit}`;
  return rows.map((row) => ({ ...row, createdAt: new Date(row.createdAt) }));
}

/** The one that is being made of this month, with or without printed forms; null where none is. */
export const findRunningExport = (
  em: EntityManager,
  of: Pick<ReceiptExport, 'rut' | 'environment' | 'month' | 'withPdfs'>,
): Promise<ReceiptExport | null> => {
  const { rut, environment, month, withPdfs } = of;
  return em.findOne(ReceiptExport, { rut, environment, month, withPdfs, state: 'RUNNING' });
};

/** The account that owns an enterprise, which shares the making of files with the others. */
export async function findExportOwner(em: EntityManager, rut: string): Promise<string> {
  return (await em.findOneOrFail(Enterprise, { rut })).ownerAccountId;
}

/** How many files are being made of all enterprises that this account owns. */
export async function countRunningExports(em: EntityManager, accountId: string): Promise<number> {
  const [row] = await em.execute<{ n: number }[]>(
    `select count(*)::int as n from receipt_export
     where state = 'RUNNING' and rut in (select rut from enterprise where owner_account_id = ?)`,
    [accountId],
  );
  return row?.n ?? 0;
}

/** How many files of an enterprise are being made, or there. */
export const countKeptExports = (em: EntityManager, rut: string, now: Date): Promise<number> =>
  em.count(ReceiptExport, {
    rut,
    $or: [{ state: 'RUNNING' }, { state: 'DONE', endedAt: { $gt: keptSince(now) } }],
  });

/** A file that ended before is not there any more. */
const keptSince = (now: Date): Date => new Date(now.getTime() - EXPORT_KEPT_DAYS * DAY_MILLISECONDS);

/** Whether the file is there to be fetched. */
export const isExportKept = (
  { state, endedAt }: Pick<ReceiptExport, 'state' | 'endedAt'>,
  now: Date,
): boolean => state === 'DONE' && endedAt !== null && endedAt > keptSince(now);

/** The export with that id; null where there is none. */
export const findExport = (em: EntityManager, id: string): Promise<ReceiptExport | null> =>
  em.findOne(ReceiptExport, { id }, { refresh: true });

/** All that are under way. */
export const listRunningExports = (em: EntityManager, rut: string | undefined): Promise<ReceiptExport[]> =>
  em.find(
    ReceiptExport,
    { state: 'RUNNING', ...(rut === undefined ? {} : { rut }) },
    { orderBy: { createdAt: 'asc', id: 'asc' } },
  );

/** Starts the workflow that makes the file. */
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

/** The condition that one of these accounts may do more than read at the enterprise of a row; null: at all. */
function reachedBy(accounts: Seen): Fragment {
  if (accounts === null) return sql`true`;
  return sql`rut in (select e.rut from enterprise e where e.owner_account_id = any (${accounts}::uuid[])
    union all select g.rut from enterprise_grant g where g.account_id = any (${accounts}::uuid[]) and g.role <> 'VIEWER')`;
}

/** Exports, newest first, of the enterprises at which one of these accounts may do more than read; null: of all. */
export async function listExports(
  em: EntityManager,
  accounts: Seen,
  {
    rut,
    environment,
    month,
  }: {
    readonly rut?: string | undefined;
    readonly environment?: Environment | undefined;
    readonly month?: string | undefined;
  },
  /** `after`: the moment and the id of the last one that was shown. */
  { after, limit }: { after: readonly string[] | null; limit: number },
): Promise<ReceiptExport[]> {
  const wanted = whereAll(
    reachedBy(accounts),
    conditionBuilder<'receipt_export'>().and({ rut, environment, month }),
    after && sql`(created_at, id) < (${after[0]}, ${after[1]})`,
  );
  const rows = await runSql(em)<{ id: string }>`
    select id from receipt_export where ${wanted} order by created_at desc, id desc limit ${limit}`;
  return em.find(
    ReceiptExport,
    { id: { $in: rows.map(({ id }) => id) } },
    { orderBy: { createdAt: 'desc', id: 'desc' } },
  );
}

/** Enterprises at which one of these accounts may do more than read, by name. */
export async function listExportableEnterprises(
  em: EntityManager,
  accounts: readonly string[],
  limit: number,
): Promise<{ rut: string; legalName: string }[]> {
  return runSql(em)<{ rut: string; legalName: string }>`
    select rut, legal_name as "legalName" from enterprise where ${reachedBy(accounts)}
    order by legal_name, rut limit ${limit}`;
}

/** What one step adds to a file. */
export interface NewExportPart {
  readonly entries: number;
  readonly content: Buffer;
  readonly directory: Buffer;
  /** Receipts that were looked at, the last of them, and the lines about what of them is not in the file. */
  readonly done: number;
  readonly lastCfe: string | null;
  readonly leftOut: readonly string[];
  /** The file is whole with it. */
  readonly isLast: boolean;
}

/**
 * Stores the part that follows those that `to` had when it was read. False where another attempt has stored it meanwhile, or the
 * file has ended: nothing is stored then, so that no receipt is twice in it.
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

/** All lines about what is not in a file, in the order of its receipts. */
export async function readLeftOutLines(em: EntityManager, id: string): Promise<string> {
  const [row] = await em.execute<{ text: string | null }[]>(
    `select string_agg(left_out, '' order by place) as text from receipt_export_part where export_id = ?`,
    [id],
  );
  return row?.text ?? '';
}

/** Gives up a file that is being made. False where it has ended. */
export async function markExportStopped(em: EntityManager, id: string, now: Date): Promise<boolean> {
  const where = { id, state: 'RUNNING' } as const;
  return (
    (await em.nativeUpdate(ReceiptExport, where, { state: 'STOPPED', movedAt: now, endedAt: now })) === 1
  );
}

/** How long a file that is whole is. */
export const exportBytes = ({
  contentBytes,
  directoryBytes,
}: Pick<ReceiptExport, 'contentBytes' | 'directoryBytes'>): number => contentBytes + directoryBytes;

/** The bytes of a file that is whole: the entries of all parts, then the directory. Throws where a part went meanwhile. */
export async function* streamExport(
  fork: () => EntityManager,
  { id, parts }: Pick<ReceiptExport, 'id' | 'parts'>,
): AsyncGenerator<Uint8Array> {
  for (const field of ['content', 'directory'] as const) {
    for (let place = 1; place <= parts; place += 1) {
      const part = await fork().findOne(ReceiptExportPart, { exportId: id, place }, { fields: [field] });
      if (!part) throw new Error(`part ${place} of the export ${id} is gone`);
      yield part[field];
    }
  }
}
