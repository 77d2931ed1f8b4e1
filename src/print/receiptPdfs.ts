import type { CfeStatus } from '../domain/cfeStatus.ts';
import type { Paper } from '../domain/qr.ts';
import { createFileCache, type FileKey, type MadeFile } from './fileCache.ts';
import type { PrintedReceipt } from './receipt.ts';

/** What is kept in memory of what was drawn, in bytes: some 3,000 receipts of a page. */
const MOST_BYTES = 64 * 1024 * 1024;

/** A signed CFE, as far as it tells one print from another: all else that a print shows never changes. */
export interface PrintedCfe {
  readonly id: string;
  /** The account that issued it, which shares the threads with the others. */
  readonly accountId: string;
  readonly status: CfeStatus;
  readonly digest: string | null;
  /** Length of its XML, by which a print is light or heavy. */
  readonly xmlBytes: number;
}

/** Draws a receipt, which it reads when its turn has come. Refuses while too much is to be drawn (UNAVAILABLE). */
export type Draw = (
  cfe: PrintedCfe,
  paper: Paper,
  read: () => Promise<PrintedReceipt>,
) => Promise<Uint8Array>;

/** The printed forms of receipts: drawn elsewhere, and the last ones kept. */
export interface ReceiptPdfs {
  /** The PDF of a receipt on that paper, if it is kept. */
  kept(cfe: PrintedCfe, paper: Paper): MadeFile | undefined;
  /** The PDF of a receipt on that paper, drawn from what `read` returns unless it is kept. Refuses as `draw` does. */
  pdf(cfe: PrintedCfe, paper: Paper, read: () => Promise<PrintedReceipt>): Promise<MadeFile>;
}

/** Draws by `draw`. What several ask for at once is drawn once. */
export function createReceiptPdfs({
  draw,
  mostBytes = MOST_BYTES,
}: {
  draw: Draw;
  mostBytes?: number;
}): ReceiptPdfs {
  const cache = createFileCache(mostBytes);
  return {
    kept: (cfe, paper) => cache.kept(keyOf(cfe, paper)),
    pdf: (cfe, paper, read) => cache.file(keyOf(cfe, paper), () => draw(cfe, paper, read)),
  };
}

function keyOf({ id, accountId, status, digest }: PrintedCfe, paper: Paper): FileKey {
  return { key: [id, digest, status === 'REJECTED', paper].join(' '), accountId };
}
