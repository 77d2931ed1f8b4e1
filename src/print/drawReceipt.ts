/**
 * Printing in threads, so that nobody's call waits for a print: a few at a time, a few that wait, one of an issuer at a
 * time; whoever comes on top of that is refused and comes again.
 */
import { Worker } from 'node:worker_threads';
import { createFairQueue } from '../crypto/fairQueue.ts';
import type { Paper, PrintedReceipt } from './receipt.ts';

export type { Paper, PrintedReceipt } from './receipt.ts';
export { PAPERS } from './receipt.ts';

/** Processor time of one print. The longest lawful receipt takes a tenth; what takes more is no receipt. */
const MOST_SECONDS = 20;
const LOOK_EVERY_MS = 500;
/** Heap of a thread; its fonts and the longest receipt take a third. */
const MOST_MEGABYTES = 512;
/** A thread without work gives its memory back. */
const IDLE_MS = 60_000;
/** Prints of 20 lines take a twentieth of a second: those that wait are served within two. */
const queue = createFairQueue({
  atOnce: 2,
  waiting: 24,
  waitingOfOne: 8,
  seconds: 2,
  full: 'Too many receipts are being printed; try again in a few seconds.',
});

/**
 * The printed form of a signed CFE on `paper`, as PDF/A-3 with the CFE inside: the same receipt gives the same bytes.
 * Refuses when too many wait (UNAVAILABLE, with the time after which to come again); what else it throws is a mistake
 * of ours.
 */
export function drawReceipt(receipt: PrintedReceipt, paper: Paper): Promise<Buffer> {
  return queue.run(receipt.rut, () => drawInThread(receipt, paper));
}

/** Threads without work, with the timer that ends each. */
const idle = new Map<Worker, NodeJS.Timeout>();

async function drawInThread(receipt: PrintedReceipt, paper: Paper): Promise<Buffer> {
  const worker = idleThread() ?? newThread();
  worker.ref();
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
  const failed = (cause: unknown): void => reject(new Error('a receipt could not be printed', { cause }));
  const watching = watch(worker, () => failed(`it took more than ${MOST_SECONDS} s`));
  worker.once('message', resolve).once('error', failed);
  worker.postMessage({ receipt, paper }, []);
  try {
    const { buffer, byteOffset, byteLength } = await promise;
    worker.off('error', failed);
    rest(worker);
    return Buffer.from(buffer, byteOffset, byteLength);
  } catch (error) {
    await worker.terminate();
    throw error;
  } finally {
    clearInterval(watching);
  }
}

function newThread(): Worker {
  const worker = new Worker(new URL('./printWorker.ts', import.meta.url), {
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: MOST_MEGABYTES },
  });
  // Whatever ends a thread while it rests is no reason to end the process.
  return worker.on('error', () => forget(worker));
}

function forget(worker: Worker): void {
  clearTimeout(idle.get(worker));
  idle.delete(worker);
}

function idleThread(): Worker | undefined {
  const [worker] = idle.keys();
  if (worker) forget(worker);
  return worker;
}

/** A thread that rests holds no process up. */
function rest(worker: Worker): void {
  worker.unref();
  const end = (): void => {
    forget(worker);
    void worker.terminate();
  };
  idle.set(worker, setTimeout(end, IDLE_MS).unref());
}

/** Calls `tooLong` once the thread has spent more processor time on its print than a print may take. */
function watch(worker: Worker, tooLong: () => void): NodeJS.Timeout {
  let before: number | undefined;
  const look = async (): Promise<void> => {
    try {
      const { user, system } = await worker.cpuUsage();
      before ??= user + system;
      if (user + system - before > MOST_SECONDS * 1e6) tooLong();
    } catch {
      // The thread does not run yet, or no longer.
    }
  };
  return setInterval(() => void look(), LOOK_EVERY_MS);
}
