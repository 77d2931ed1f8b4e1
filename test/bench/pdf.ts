import { PAPER_SIZES } from '../../src/domain/receipts/qr.ts';
import { drawReceipt } from '../support/print/drawn.ts';
import { printable } from '../support/print/printable.ts';
import { aDocument } from './tools/document.ts';

/** Prints of A4 with 20 lines that show whether memory stays; and how often it is looked at. */
const PRINTS = Number(process.env['BENCH_PRINTS'] ?? 2_000);
const STEPS = 10;
const WARM_UP = 20;
/** Prints of 700 lines on each paper. */
const ROUNDS = 7;

/**
 * Prints a second of one thread, which one issuer's prints share, and the memory of the process meanwhile; then one
 * receipt of 700 lines on each paper.
 */
export async function run(): Promise<void> {
  const receipt = printable(aDocument(20));
  for (let print = 0; print < WARM_UP; print += 1) await drawReceipt(receipt, 'A4');
  for (let step = 0; step < STEPS; step += 1) {
    const [before, startedAt] = [process.cpuUsage(), performance.now()];
    const prints = PRINTS / STEPS;
    for (let print = 0; print < prints; print += 1) await drawReceipt(receipt, 'A4');
    const seconds = (performance.now() - startedAt) / 1_000;
    const { user, system } = process.cpuUsage(before);
    const processor = (user + system) / 1_000 / prints;
    const memory = process.memoryUsage().rss / 2 ** 20;
    console.log(
      `20 lines, A4   ${(prints / seconds).toFixed(1).padStart(6)} /s  ${processor.toFixed(1).padStart(6)} ms of processor each  ${memory.toFixed(0).padStart(4)} MiB`,
    );
  }
  const longest = printable(aDocument(700));
  for (const paper of PAPER_SIZES) {
    const times: number[] = [];
    let bytes = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const startedAt = performance.now();
      bytes = (await drawReceipt(longest, paper)).length;
      times.push(performance.now() - startedAt);
    }
    const fastest = Math.min(...times);
    const median = times.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0;
    console.log(
      `700 lines, ${paper.padEnd(4)} ${median.toFixed(0).padStart(6)} ms (fastest ${fastest.toFixed(0)})  ${(bytes / 1024).toFixed(0)} KiB`,
    );
  }
}
