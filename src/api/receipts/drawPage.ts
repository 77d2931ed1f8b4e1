/** Draws receipt pages: short ones at once, long ones in a thread, so that they do not delay other calls. */
import { createFairQueue } from '../../crypto/fairQueue.ts';
import type { CfeDocument } from '../../domain/receipts/cfeDocument.ts';
import { CFE_TYPES } from '../../domain/receipts/cfeTypes.ts';
import { qrUrl, securityCode } from '../../domain/receipts/qr.ts';
import { type PageReceipt, receiptPage } from '../../page/receiptPage.ts';
import { createThreads } from '../../print/threads.ts';

/** Input of a page: plain data that can be sent to a thread. */
export interface PageTask extends Pick<PageReceipt, 'environment' | 'status' | 'logo'> {
  /** The document, as JSON. */
  readonly json: string;
  readonly digest: string;
  readonly receiptToken: string;
}

/**
 * A receipt of some 30 lines.
 *
 * @internal exported for tests
 */
export const LONG_CHARACTERS = 16 * 1024;
const queue = createFairQueue({
  atOnce: 1,
  waiting: 24,
  waitingPerOwner: 8,
  retryAfterSeconds: 2,
  full: 'Too many receipts are being shown; try again in a few seconds.',
});
const threads = createThreads<PageTask, Uint8Array>({
  script: new URL('./pageWorker.ts', import.meta.url),
  // The page of the longest receipt takes a tenth of a second.
  mostSeconds: 10,
  mostMegabytes: 256,
  idleMs: 60_000,
});

/** Returns the page of a receipt, in UTF-8. Throws UNAVAILABLE when too many wait. */
export async function drawPage(task: PageTask, accountId: string): Promise<Uint8Array> {
  return task.json.length > LONG_CHARACTERS ? queue.run(accountId, () => threads.run(task)) : writePage(task);
}

/** Draws the page in this thread. */
export function writePage({ json, digest, receiptToken, ...task }: PageTask): Uint8Array {
  const document = JSON.parse(json) as CfeDocument;
  const { issuer, type, serie, numero, totals, signedAt } = document;
  const typeCode = CFE_TYPES[type].code;
  const { environment } = task;
  const page = receiptPage({
    ...task,
    document,
    securityCode: securityCode(digest),
    qrUrl: qrUrl({
      environment,
      rut: issuer.rut,
      serie,
      numero,
      typeCode,
      pay: totals.pay,
      signedAt,
      digest,
    }),
    // Relative to the page.
    pdf: `${receiptToken}/pdf`,
    xml: `${receiptToken}/xml`,
  });
  return Buffer.from(page, 'utf8');
}
