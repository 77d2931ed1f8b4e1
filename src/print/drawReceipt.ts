/**
 * Draws receipts in threads, so that other calls do not wait: a few at a time, a short queue, one per account
 * at a time; excess requests are refused and retried. Slow prints have a thread of their own.
 */
import { createFairQueue } from '../crypto/fairQueue.ts';
import type { PaperSize } from '../domain/receipts/qr.ts';
import type { PrintedReceipt } from './receipt.ts';
import type { Draw, PrintableCfe } from './receiptPdfs.ts';
import { createThreads } from './threads.ts';

/** A receipt of 200 ordinary lines; slow prints have many lines, long texts, or both. */
const HEAVY_BYTES = 128 * 1024;
/**
 * Processor time after which the account's next print counts as heavy too, unless it is small: some letters
 * are slower than others.
 */
const SLOW_MILLISECONDS = 1_000;
const SMALL_BYTES = 32 * 1024;

/**
 * Predicts heavy prints from their size and from the account's last print that was not small. @internal
 * exported for tests
 */
export function createHeavyForecast() {
  const slow = new Set<string>();
  const isSmall = ({ xmlBytes }: Sized): boolean => xmlBytes <= SMALL_BYTES;
  return {
    isHeavy: (print: Sized): boolean =>
      print.xmlBytes > HEAVY_BYTES || (!isSmall(print) && slow.has(print.accountId)),
    /** Stores the processor time of a print. */
    record: (print: Sized, milliseconds: number): void => {
      if (milliseconds > SLOW_MILLISECONDS) slow.add(print.accountId);
      else if (!isSmall(print)) slow.delete(print.accountId);
    },
  };
}
type Sized = Pick<PrintableCfe, 'accountId' | 'xmlBytes'>;

/** A print of 20 lines takes 50 ms, so the queue is served within two seconds. */
const queue = createFairQueue({
  atOnce: 2,
  waiting: 24,
  waitingPerOwner: 8,
  heavy: { atOnce: 1, waiting: 12, waitingPerOwner: 2 },
  retryAfterSeconds: 2,
  full: 'Too many receipts are being printed; try again in a few seconds.',
});

const scales = createHeavyForecast();

/** The task of a thread and its result. */
export interface PrintTask {
  readonly receipt: PrintedReceipt;
  readonly paper: PaperSize;
}
export interface PrintResult {
  readonly pdf: Uint8Array;
  /** Processor time. */
  readonly milliseconds: number;
}

const threads = createThreads<PrintTask, PrintResult>({
  script: new URL('./printWorker.ts', import.meta.url),
  // 700 lines of ordinary length take half a second, the longest texts in the widest letters 12.
  mostSeconds: 40,
  // The longest texts take a third of this.
  mostMegabytes: 512,
  idleMs: 60_000,
});

/**
 * Returns the printed form of a signed CFE on `paper`, as PDF/A-3 with the CFE inside; equal receipts give
 * equal bytes. Throws UNAVAILABLE (with Retry-After) when too many wait; any other error is a bug.
 */
export const drawReceipt: Draw = (cfe, paper, read) =>
  queue.run(
    cfe.accountId,
    async () => {
      const receipt = await read();
      try {
        const { pdf, milliseconds } = await threads.run({ receipt, paper });
        scales.record(cfe, milliseconds);
        return Buffer.from(pdf.buffer, pdf.byteOffset, pdf.byteLength);
      } catch (cause) {
        throw new Error('a receipt could not be printed', { cause });
      }
    },
    { isHeavy: scales.isHeavy(cfe) },
  );
