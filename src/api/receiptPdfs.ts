import { createHash } from 'node:crypto';
import type { Paper } from '../domain/paper.ts';
import type { PrintedReceipt } from '../print/receipt.ts';

/** What is kept in memory of what was drawn, in bytes: some 3,000 receipts of a page. */
const MOST_BYTES = 64 * 1024 * 1024;

/** The printed forms of receipts: drawn elsewhere, and the last ones kept. */
export interface ReceiptPdfs {
  /**
   * The PDF of a receipt on that paper; equal receipts give the same bytes. Refuses while too much is to be drawn
   * (UNAVAILABLE).
   */
  pdf(receipt: PrintedReceipt, paper: Paper): Promise<Uint8Array>;
}

/** Draws by `draw`. What several ask for at once is drawn once. */
export function createReceiptPdfs({
  draw,
  mostBytes = MOST_BYTES,
}: {
  draw: (receipt: PrintedReceipt, paper: Paper) => Promise<Uint8Array>;
  mostBytes?: number;
}): ReceiptPdfs {
  const drawing = new Map<string, Promise<Uint8Array>>();
  /** The one used last stands last. */
  const kept = new Map<string, Uint8Array>();
  let bytes = 0;

  function keep(key: string, pdf: Uint8Array): void {
    kept.set(key, pdf);
    bytes += pdf.length;
    for (const [oldest, { length }] of kept) {
      if (bytes <= mostBytes) return;
      kept.delete(oldest);
      bytes -= length;
    }
  }

  async function drawn(key: string, receipt: PrintedReceipt, paper: Paper): Promise<Uint8Array> {
    const pdf = await draw(receipt, paper);
    keep(key, pdf);
    return pdf;
  }

  return {
    pdf(receipt, paper) {
      const key = digestOf(receipt, paper);
      const known = kept.get(key);
      if (known) {
        kept.delete(key);
        kept.set(key, known);
        return Promise.resolve(known);
      }
      const shared = drawing.get(key);
      if (shared) return shared;
      const own = drawn(key, receipt, paper).finally(() => drawing.delete(key));
      drawing.set(key, own);
      return own;
    },
  };
}

/** Two receipts with one digest look the same. */
function digestOf({ logo, ...receipt }: PrintedReceipt, paper: Paper): string {
  const facts = Object.entries(receipt).sort(([a], [b]) => (a < b ? -1 : 1));
  const hash = createHash('sha256').update(JSON.stringify([paper, facts]));
  return hash.update(logo ?? '').digest('base64');
}
