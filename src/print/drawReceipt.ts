/**
 * Printing in threads, so that nobody's call waits for a print: a few at a time, a few that wait, one of an issuer at a
 * time; whoever comes on top of that is refused and comes again.
 */
import { createFairQueue } from '../crypto/fairQueue.ts';
import type { Paper } from '../domain/paper.ts';
import type { PrintedReceipt } from './receipt.ts';
import { createThreads } from './threads.ts';

/** Prints of 20 lines take a twentieth of a second: those that wait are served within two. */
const queue = createFairQueue({
  atOnce: 2,
  waiting: 24,
  waitingOfOne: 8,
  seconds: 2,
  full: 'Too many receipts are being printed; try again in a few seconds.',
});

const threads = createThreads<{ receipt: PrintedReceipt; paper: Paper }, Uint8Array>({
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
export function drawReceipt(receipt: PrintedReceipt, paper: Paper): Promise<Buffer> {
  return queue.run(receipt.rut, async () => {
    try {
      const { buffer, byteOffset, byteLength } = await threads.run({ receipt, paper });
      return Buffer.from(buffer, byteOffset, byteLength);
    } catch (cause) {
      throw new Error('a receipt could not be printed', { cause });
    }
  });
}
