import { Context, log } from '@temporalio/activity';
import { Cfe, type ReceiptExport, ReceiptExportPart } from '../db/entities/receipts.ts';
import type { Database } from '../db/orm.ts';
import {
  addPart,
  cfesOfMonth,
  type ExportedCfe,
  findExport,
  leftOutOf,
  markStopped,
  type NextPart,
} from '../db/receiptExports.ts';
import type { ExportResult } from '../domain/activityResults.ts';
import { formatCfeId } from '../domain/cfeId.ts';
import { CFE_TYPES } from '../domain/cfeTypes.ts';
import { UnprintableReceipt } from '../domain/mail.ts';
import { CFE_WORDS } from '../domain/words/cfes.ts';
import { Refusal } from '../errors.ts';
import type { Activity } from './activities.ts';
import { withHeartbeat } from './steps/attempt.ts';
import type { PrintSignedCfe } from './steps/printSignedCfe.ts';
import { writeZipEnd, writeZipPiece, type ZipEntry } from './steps/zipFile.ts';

/** Receipts of one part: some hundred kilobytes; with printed forms, which are large and take their time, some megabytes at most. */
const PART_RECEIPTS = 100;
const PRINTED_PART_RECEIPTS = 10;
/** No part has much more: prints of long receipts have megabytes each. */
const PART_BYTES = 16 * 1024 * 1024;
/** So long one turn lasts; then the next in the queue has its own, and whoever stops it is heard. It ends between receipts. */
const TURN_MILLISECONDS = 10_000;
const SECOND = 1_000;

export interface WriteExportDeps {
  readonly orm: Database;
  readonly clock: () => Date;
  readonly print: PrintSignedCfe;
  readonly turnMilliseconds?: number;
  readonly partReceipts?: number;
  /** Milliseconds, by which turns end. */
  readonly ticks?: () => number;
}

/**
 * Writes the next parts of an export's file, and says whether there are more; its repeat goes on behind the last part that was
 * stored. Two at once store no part twice: the later goes on behind the other's.
 */
export function createWriteExport({
  turnMilliseconds = TURN_MILLISECONDS,
  ticks = () => performance.now(),
  ...deps
}: WriteExportDeps): Activity<'writeExport'> {
  return (exportId) =>
    withHeartbeat(async () => {
      const end = ticks() + turnMilliseconds;
      const { cancellationSignal } = Context.current();
      const isOver = () => ticks() >= end || cancellationSignal.aborted;
      for (;;) {
        const asked = await theExport(deps, exportId);
        if (asked.state !== 'RUNNING') return endedAs(deps, asked);
        if (isOver()) return { kind: 'goesOn', ...countsOf(asked) };
        await addPart(deps.orm.em.fork(), asked, await nextPart(deps, asked, isOver), deps.clock());
      }
    });
}

/** Gives up a file whose workflow was cancelled; one that has ended stays as it is. */
export function createStopExport(deps: Pick<WriteExportDeps, 'orm' | 'clock'>): Activity<'stopExport'> {
  return async (exportId) => {
    await markStopped(deps.orm.em.fork(), exportId, deps.clock());
    return endedAs(deps, await theExport(deps, exportId));
  };
}

/** Of one that was given up nothing stays. */
async function endedAs({ orm }: Pick<WriteExportDeps, 'orm'>, asked: ReceiptExport): Promise<ExportResult> {
  const { id, state } = asked;
  if (state === 'DONE') return { kind: 'ended', state, ...countsOf(asked) };
  await orm.em.fork().nativeDelete(ReceiptExportPart, { exportId: id });
  return { kind: 'ended', state: 'STOPPED', ...countsOf(asked) };
}

const countsOf = ({ total, done, leftOut }: ReceiptExport) => ({ total, done, leftOut });

async function theExport({ orm }: Pick<WriteExportDeps, 'orm'>, id: string): Promise<ReceiptExport> {
  const found = await findExport(orm.em.fork(), id);
  if (!found) throw new Error(`there is no export ${id}`);
  return found;
}

/** The next receipts, at least one, until the turn is over; behind the last of them the list of what is left out, and the end of the file. */
async function nextPart(
  deps: WriteExportDeps,
  asked: ReceiptExport,
  isOver: () => boolean,
): Promise<NextPart> {
  const most = deps.partReceipts ?? (asked.withPdfs ? PRINTED_PART_RECEIPTS : PART_RECEIPTS);
  const cfes = await cfesOfMonth(deps.orm.em.fork(), asked, most);
  if (cfes.length === 0) return lastPart(deps, asked);
  const entries: ZipEntry[] = [];
  const leftOut: string[] = [];
  let [bytes, done] = [0, 0];
  for (const cfe of cfes) {
    bytes += await putReceipt(deps, asked, cfe, { entries, leftOut });
    done += 1;
    if (bytes > PART_BYTES || isOver()) break;
  }
  return {
    ...(await writeZipPiece(entries, asked)),
    done,
    lastCfe: cfes[done - 1]?.id ?? null,
    leftOut,
    isLast: false,
  };
}

async function lastPart({ orm }: WriteExportDeps, asked: ReceiptExport): Promise<NextPart> {
  const lines = await leftOutOf(orm.em.fork(), asked.id);
  const list = { name: 'omitidos.csv', content: Buffer.from(HEAD + lines, 'utf8'), at: asked.createdAt };
  const piece = await writeZipPiece(lines === '' ? [] : [list], asked);
  const end = writeZipEnd({
    entries: asked.entries + piece.entries,
    contentBytes: asked.contentBytes + piece.content.length,
    directoryBytes: asked.directoryBytes + piece.directory.length,
  });
  const directory = Buffer.concat([piece.directory, end]);
  return { ...piece, directory, done: 0, lastCfe: null, leftOut: [], isLast: true };
}

/** Puts a receipt into a part; returns how many bytes it has. */
async function putReceipt(
  { orm, print }: WriteExportDeps,
  { rut, withPdfs }: ReceiptExport,
  cfe: ExportedCfe,
  { entries, leftOut }: { entries: ZipEntry[]; leftOut: string[] },
): Promise<number> {
  const { id, type, serie, numero, status, createdAt: at, signedXml } = cfe;
  if (signedXml === null) {
    leftOut.push(lineOf(cfe, withPdfs ? 'XML y PDF' : 'XML', 'todavía sin firma'));
    return 0;
  }
  const folder = status === 'REJECTED' ? 'rechazados/' : '';
  const name = `${folder}${rut}-${CFE_TYPES[type].code}-${serie}-${numero}`;
  const xml = Buffer.from(signedXml, 'utf8');
  entries.push({ name: `${name}.xml`, content: xml, at });
  if (!withPdfs) return xml.length;
  const em = orm.em.fork();
  const whole = await em.findOneOrFail(Cfe, { id });
  const pdf = await printed(id, () => print(em, Object.assign(whole, { signedXml })));
  if (pdf) entries.push({ name: `${name}.pdf`, content: pdf, at });
  else leftOut.push(lineOf(cfe, 'PDF', 'no se pudo imprimir'));
  return xml.length + (pdf?.length ?? 0);
}

/** A print; null of a receipt that cannot be printed, whoever tries. Whoever gets no turn waits and comes again. */
async function printed(id: string, print: () => Promise<Uint8Array>): Promise<Uint8Array | null> {
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

/** The list of what is left out, for an accountant's spreadsheet: RFC 4180, UTF-8 with its mark; numbers and words of ours only. */
const HEAD = '\uFEFFcfe_id,tipo,serie,numero,estado,falta,motivo\r\n';
const lineOf = (cfe: ExportedCfe, what: string, why: string): string =>
  `${[
    formatCfeId(cfe),
    CFE_TYPES[cfe.type].code,
    cfe.serie,
    cfe.numero,
    CFE_WORDS.es.status[cfe.status].label,
    what,
    why,
  ].join(',')}\r\n`;
