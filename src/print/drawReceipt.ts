/**
 * Printing in threads, so that nobody's call waits for a print: a few at a time, a few that wait, one of an account at a
 * time; whoever comes on top of that is refused and comes again. Prints that take long have one of the threads.
 */
import { createFairQueue } from '../crypto/fairQueue.ts';
import type { Paper } from '../domain/qr.ts';
import type { PrintedReceipt } from './receipt.ts';
import type { Draw, PrintedCfe } from './receiptPdfs.ts';
import { createThreads } from './threads.ts';

/** A receipt of 200 ordinary lines; what takes long has many lines, long texts, or both. */
const HEAVY_BYTES = 128 * 1024;
/** Processor time after which the next print of the same account is heavy too, unless it is small: some letters take longer than others. */
const SLOW_MILLISECONDS = 1_000;
const SMALL_BYTES = 32 * 1024;

/** Tells heavy prints before they are made, from their size and from how long the last one of the account took that was not small. @internal exported for tests */
export function createScales() {
  const slow = new Set<string>();
  const isSmall = ({ xmlBytes }: Weighed): boolean => xmlBytes <= SMALL_BYTES;
  return {
    isHeavy: (print: Weighed): boolean =>
      print.xmlBytes > HEAVY_BYTES || (!isSmall(print) && slow.has(print.accountId)),
    /** Remembers the processor time that a print took. */
    took: (print: Weighed, milliseconds: number): void => {
      if (milliseconds > SLOW_MILLISECONDS) slow.add(print.accountId);
      else if (!isSmall(print)) slow.delete(print.accountId);
    },
  };
}
type Weighed = Pick<PrintedCfe, 'accountId' | 'xmlBytes'>;

/** Prints of 20 lines take a twentieth of a second: those that wait are served within two. */
const queue = createFairQueue({
  atOnce: 2,
  waiting: 24,
  waitingOfOne: 8,
  heavy: { atOnce: 1, waiting: 12, ofOne: 2 },
  seconds: 2,
  full: 'Too many receipts are being printed; try again in a few seconds.',
});

const scales = createScales();

/** What a thread draws, and what it comes to. */
export interface PrintTask {
  readonly receipt: PrintedReceipt;
  readonly paper: Paper;
}
export interface PrintResult {
  readonly pdf: Uint8Array;
  /** Processor time. */
  readonly milliseconds: number;
}

const threads = createThreads<PrintTask, PrintResult>({
  script: new URL('./printWorker.ts', import.meta.url),
  // 700 lines of ordinary length take half a second, of the longest texts in the widest letters 12.
  mostSeconds: 40,
  // Those take a third of it.
  mostMegabytes: 512,
  idleMs: 60_000,
});

/**
 * The printed form of a signed CFE on `paper`, as PDF/A-3 with the CFE inside: the same receipt gives the same bytes.
 * Refuses when too many wait (UNAVAILABLE, with the time after which to come again); what else it throws is a mistake
 * of ours.
 */
export const drawReceipt: Draw = (cfe, paper, read) =>
  queue.run(
    cfe.accountId,
    async () => {
      const receipt = await read();
      try {
        const { pdf, milliseconds } = await threads.run({ receipt, paper });
        scales.took(cfe, milliseconds);
        return Buffer.from(pdf.buffer, pdf.byteOffset, pdf.byteLength);
      } catch (cause) {
        throw new Error('a receipt could not be printed', { cause });
      }
    },
    { isHeavy: scales.isHeavy(cfe) },
  );
