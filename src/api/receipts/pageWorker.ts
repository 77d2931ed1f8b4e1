/** The thread that draws the pages of long receipts, one at a time. */
import { parentPort } from 'node:worker_threads';
import { type PageTask, writePage } from './drawPage.ts';

parentPort?.on('message', (task: PageTask) => {
  // Copies the page to its own buffer, because only whole buffers can be transferred.
  const page = Uint8Array.from(writePage(task));
  parentPort?.postMessage(page, [page.buffer]);
});
