/** The thread in which the pages of long receipts are written, one after the other. */
import { parentPort } from 'node:worker_threads';
import { type PageTask, writePage } from './drawPage.ts';

parentPort?.on('message', (task: PageTask) => {
  // A copy of its own, which can be handed over.
  const page = Uint8Array.from(writePage(task));
  parentPort?.postMessage(page, [page.buffer]);
});
