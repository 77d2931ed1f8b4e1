import { Context, log } from '@temporalio/activity';
import { Cfe, type ReceiptExport, ReceiptExportPart } from '../../db/entities/receipts.ts';
import type { Database } from '../../db/orm.ts';
import {
  addExportPart,
  type ExportedCfe,
  findExport,
  listCfesOfMonth,
  markExportStopped,
  type NewExportPart,
  readLeftOutLines,
} from '../../db/receipts/receiptExports.ts';
import type { ExportResult } from '../../domain/authority/activityResults.ts';
import { UnprintableReceipt } from '../../domain/mail/mail.ts';
import { formatCfeId } from '../../domain/receipts/cfeId.ts';
import { CFE_TYPES } from '../../domain/receipts/cfeTypes.ts';
import { Refusal } from '../../errors.ts';
import { CFE_WORDS } from '../../words/cfeStates.ts';
import type { Activity } from '../activities.ts';
import { withHeartbeat } from '../authority/attempt.ts';
import type { PrintSignedCfe } from '../mail/printSignedCfe.ts';
import { writeZipEnd, writeZipPiece, type ZipEntry } from './zipFile.ts';

/** Receipts of one part: some hundred kilobytes; a few megabytes with printed forms, which are large and slow. */
const PART_RECEIPTS = 100;
const PRINTED_PART_RECEIPTS = 10;
/** A part ends above this size: prints of long receipts have megabytes each. */
const PART_BYTES = 16 * 1024 * 1024;
/**
 * Length of one slot, which ends between receipts; then the next export in the queue has its slot, and a stop takes
 * effect.
 */
const SLOT_MILLISECONDS = 10_000;
const SECOND = 1_000;

export interface WriteExportDeps {
  readonly orm: Database;
  readonly clock: () => Date;
  readonly print: PrintSignedCfe;
  readonly slotMilliseconds?: number;
  readonly partReceipts?: number;
  /** A clock for the slots, in milliseconds. */
  readonly ticks?: () => number;
}

/**
 * Writes the next parts of an export's file; the result says whether there are more. A repeat continues after
 * the last stored part; two attempts at once never store a part twice.
 */
export function createWriteExport({
  slotMilliseconds = SLOT_MILLISECONDS,
  ticks = () => performance.now(),
  ...deps
}: WriteExportDeps): Activity<'writeExport'> {
  return (exportId) =>
    withHeartbeat(async () => {
      const end = ticks() + slotMilliseconds;
      const { cancellationSignal } = Context.current();
      const isOver = () => ticks() >= end || cancellationSignal.aborted;
      for (;;) {
        const row = await requireExport(deps, exportId);
        if (row.state !== 'RUNNING') return toEndedResult(deps, row);
        if (isOver()) return { kind: 'goesOn', ...toCounts(row) };
        await addExportPart(deps.orm.em.fork(), row, await nextPart(deps, row, isOver), deps.clock());
      }
    });
}

/** Stops an export whose workflow was cancelled; an ended one stays as it is. */
export function createStopExport(deps: Pick<WriteExportDeps, 'orm' | 'clock'>): Activity<'stopExport'> {
  return async (exportId) => {
    await markExportStopped(deps.orm.em.fork(), exportId, deps.clock());
    return toEndedResult(deps, await requireExport(deps, exportId));
  };
}

/** Returns the result; deletes the parts of a stopped export. */
async function toEndedResult(
  { orm }: Pick<WriteExportDeps, 'orm'>,
  row: ReceiptExport,
): Promise<ExportResult> {
  const { id, state } = row;
  if (state === 'DONE') return { kind: 'ended', state, ...toCounts(row) };
  await orm.em.fork().nativeDelete(ReceiptExportPart, { exportId: id });
  return { kind: 'ended', state: 'STOPPED', ...toCounts(row) };
}

const toCounts = ({ total, done, leftOut }: ReceiptExport) => ({ total, done, leftOut });

async function requireExport({ orm }: Pick<WriteExportDeps, 'orm'>, id: string): Promise<ReceiptExport> {
  const row = await findExport(orm.em.fork(), id);
  if (!row) throw new Error(`there is no export ${id}`);
  return row;
}

/**
 * Returns the next part: at least one receipt, more until the slot is over; after the last receipt the list
 * of omissions and the end of the file.
 */
async function nextPart(
  deps: WriteExportDeps,
  row: ReceiptExport,
  isOver: () => boolean,
): Promise<NewExportPart> {
  const most = deps.partReceipts ?? (row.withPdfs ? PRINTED_PART_RECEIPTS : PART_RECEIPTS);
  const cfes = await listCfesOfMonth(deps.orm.em.fork(), row, most);
  if (cfes.length === 0) return lastPart(deps, row);
  const entries: ZipEntry[] = [];
  const leftOut: string[] = [];
  let [bytes, done] = [0, 0];
  for (const cfe of cfes) {
    bytes += await addReceipt(deps, row, cfe, { entries, leftOut });
    done += 1;
    if (bytes > PART_BYTES || isOver()) break;
  }
  return {
    ...(await writeZipPiece(entries, row)),
    done,
    lastCfe: cfes[done - 1]?.id ?? null,
    leftOut,
    isLast: false,
  };
}

async function lastPart({ orm }: WriteExportDeps, row: ReceiptExport): Promise<NewExportPart> {
  const lines = await readLeftOutLines(orm.em.fork(), row.id);
  const list = { name: 'omitidos.csv', content: Buffer.from(HEAD + lines, 'utf8'), at: row.createdAt };
  const piece = await writeZipPiece(lines === '' ? [] : [list], row);
  const end = writeZipEnd({
    entries: row.entries + piece.entries,
    contentBytes: row.contentBytes + piece.content.length,
    directoryBytes: row.directoryBytes + piece.directory.length,
  });
  const directory = Buffer.concat([piece.directory, end]);
  return { ...piece, directory, done: 0, lastCfe: null, leftOut: [], isLast: true };
}

/** Adds a receipt to a part; returns its bytes. */
async function addReceipt(
  { orm, print }: WriteExportDeps,
  { rut, withPdfs }: ReceiptExport,
  cfe: ExportedCfe,
  { entries, leftOut }: { entries: ZipEntry[]; leftOut: string[] },
): Promise<number> {
  const { id, type, serie, numero, status, createdAt: at, signedXml } = cfe;
  if (signedXml === null) {
    leftOut.push(toCsvLine(cfe, withPdfs ? 'XML y PDF' : 'XML', 'todavía sin firma'));
    return 0;
  }
  const folder = status === 'REJECTED' ? 'rechazados/' : '';
  const name = `${folder}${rut}-${CFE_TYPES[type].code}-${serie}-${numero}`;
  const xml = Buffer.from(signedXml, 'utf8');
  entries.push({ name: `${name}.xml`, content: xml, at });
  if (!withPdfs) return xml.length;
  const em = orm.em.fork();
  const fullCfe = await em.findOneOrFail(Cfe, { id });
  const pdf = await printOrNull(id, () => print(em, Object.assign(fullCfe, { signedXml })));
  if (pdf) entries.push({ name: `${name}.pdf`, content: pdf, at });
  else leftOut.push(toCsvLine(cfe, 'PDF', 'no se pudo imprimir'));
  return xml.length + (pdf?.length ?? 0);
}

/**
 * Returns the printed form, or null if the receipt cannot be printed; waits while all printing threads are
 * busy.
 */
async function printOrNull(id: string, print: () => Promise<Uint8Array>): Promise<Uint8Array | null> {
  for (;;) {
    try {
      return await print();
    } catch (error) {
      if (error instanceof UnprintableReceipt) {
        log.error('a receipt could not be printed for a file', { cfe: id, error });
        return null;
      }
      if (!(error instanceof Refusal)) throw error;
      await Context.current().sleep((error.retryAfterSeconds ?? 1) * SECOND);
    }
  }
}

/**
 * The list of omissions, for an accountant's spreadsheet: RFC 4180, UTF-8 with a BOM; our own numbers and
 * words only.
 */
const HEAD = '\uFEFFcfe_id,tipo,serie,numero,estado,falta,motivo\r\n';
const toCsvLine = (cfe: ExportedCfe, missing: string, reason: string): string =>
  `${[
    formatCfeId(cfe),
    CFE_TYPES[cfe.type].code,
    cfe.serie,
    cfe.numero,
    CFE_WORDS.es.status[cfe.status].label,
    missing,
    reason,
  ].join(',')}\r\n`;
