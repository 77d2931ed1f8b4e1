/** The thread that draws the pages of long receipts, one at a time. */
import { parentPort } from 'node:worker_threads';
import { type PageTask, writePage } from './drawPage.ts';

parentPort?.on('message', (task: PageTask) => {
  // A copy in its own buffer, which can be transferred.
  const page = Uint8Array.from(writePage(task));
  parentPort?.postMessage(page, [page.buffer]);
});
