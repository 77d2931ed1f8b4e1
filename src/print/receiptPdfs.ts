import type { CfeStatus } from '../domain/receipts/cfeStatus.ts';
import type { PaperSize } from '../domain/receipts/qr.ts';
import { type CachedFile, createFileCache, type FileKey } from './fileCache.ts';
import type { PrintedReceipt } from './receipt.ts';

/** Bytes of drawn receipts cached in memory: some 3,000 receipts of one page. */
const MOST_BYTES = 64 * 1024 * 1024;

/** The fields of a signed CFE that distinguish its prints; everything else shown never changes. */
export interface PrintableCfe {
  readonly id: string;
  /** The issuing account, which shares the threads with others. */
  readonly accountId: string;
  readonly status: CfeStatus;
  readonly digest: string | null;
  /** Length of the XML, which decides whether a print is heavy. */
  readonly xmlBytes: number;
}

/**
 * Draws a receipt, which it reads when it is next in the queue. Throws UNAVAILABLE when the queue is full.
 */
export type Draw = (
  cfe: PrintableCfe,
  paper: PaperSize,
  read: () => Promise<PrintedReceipt>,
) => Promise<Uint8Array>;

/** Printed forms of receipts, drawn elsewhere; the last ones are cached. */
export interface ReceiptPdfs {
  /** Returns the PDF of a receipt on that paper, if cached. */
  kept(cfe: PrintableCfe, paper: PaperSize): CachedFile | undefined;
  /**
   * Returns the PDF of a receipt on that paper, cached or drawn from the result of `read`. Throws as `draw`
   * does.
   */
  pdf(cfe: PrintableCfe, paper: PaperSize, read: () => Promise<PrintedReceipt>): Promise<CachedFile>;
}

/** Creates a cache over `draw`; concurrent requests for one PDF draw it once. */
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

function keyOf({ id, accountId, status, digest }: PrintableCfe, paper: PaperSize): FileKey {
  return { key: [id, digest, status === 'REJECTED', paper].join(' '), accountId };
}
