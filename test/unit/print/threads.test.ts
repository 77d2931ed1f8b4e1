/** Printing beside everything else: who comes when too many wait, and a thread that fails. */
import { expect, test } from '@jest/globals';
import { Refusal } from '../../../src/errors.ts';
import { createHeavyForecast } from '../../../src/print/drawReceipt.ts';
import { drawReceipt } from '../../support/print/drawn.ts';
import { printable } from '../../support/print/printable.ts';
import { aReceiptOf } from '../../support/print/samples.ts';

const isPdf = (bytes: Buffer): boolean => bytes.subarray(0, 5).toString() === '%PDF-';

test('a receipt that cannot be read fails alone, without its text in the words', async () => {
  const good = printable(aReceiptOf('ETICKET'));
  const attempts = await Promise.allSettled([
    drawReceipt({ ...good, xml: '<CFE>Secreto' }, 'A4'),
    drawReceipt({ ...good, xml: good.xml.replace('<TipoCFE>101', '<TipoCFE>999') }, 'A4'),
    drawReceipt(good, 'A4'),
  ]);
  expect(attempts.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
  const [first] = attempts;
  expect(first?.status === 'rejected' && String(first.reason)).toBe('Error: a receipt could not be printed');
  expect(isPdf(await drawReceipt(good, 'A4'))).toBe(true);
});

test('no more than eight prints of an account wait; the next is told when to come again, others are served', async () => {
  const mine = printable(aReceiptOf('ETICKET', 200));
  const prints = Array.from({ length: 12 }, () => drawReceipt(mine, '80mm', 'account'));
  const other = drawReceipt(mine, '80mm');
  const ended = await Promise.allSettled(prints);
  const refusals = ended.flatMap((print) => (print.status === 'rejected' ? [print.reason as Refusal] : []));
  expect(refusals).toHaveLength(3);
  for (const refusal of refusals) {
    expect(refusal).toBeInstanceOf(Refusal);
    expect([refusal.code, refusal.retryAfterSeconds]).toEqual(['UNAVAILABLE', 2]);
  }
  expect(isPdf(await other)).toBe(true);
});

test('no more than 24 prints wait in all', async () => {
  const receipt = printable(aReceiptOf('ETICKET', 100));
  const prints = Array.from({ length: 40 }, () => drawReceipt(receipt, 'A4'));
  const ended = await Promise.allSettled(prints);
  expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(26);
});

test('long receipts of whoever wait in half of the places, and others are printed beside them', async () => {
  const long = printable({ ...aReceiptOf('ETICKET', 300), adenda: 'w' });
  const longer = { ...long, xml: long.xml.replace('</CFE>', `${' '.repeat(128 * 1024)}</CFE>`) };
  const prints = Array.from({ length: 20 }, () => drawReceipt(longer, 'A4'));
  const others = Array.from({ length: 12 }, () => drawReceipt(printable(aReceiptOf('ETICKET')), 'A4'));

  const [ofOthers, ofLong] = await Promise.all([Promise.all(others), Promise.allSettled(prints)]);

  expect(ofOthers.every(isPdf)).toBe(true);
  // One that is drawn, and twelve that wait.
  expect(ofLong.filter(({ status }) => status === 'fulfilled')).toHaveLength(13);
});

test('an account whose print took long waits as with heavy ones, its small prints do not, until one is quick again', () => {
  const { isHeavy, record } = createHeavyForecast();
  const [small, usual, large] = [10, 100, 200].map((kib) => ({ accountId: 'A', xmlBytes: kib * 1024 }));
  const heavy = () => [small, usual, large].map((print) => print !== undefined && isHeavy(print));
  expect(heavy()).toEqual([false, false, true]);

  record({ accountId: 'A', xmlBytes: 100 * 1024 }, 1_500);
  expect(heavy()).toEqual([false, true, true]);
  expect(isHeavy({ accountId: 'B', xmlBytes: 100 * 1024 })).toBe(false);
  record({ accountId: 'A', xmlBytes: 10 * 1024 }, 50);
  expect(heavy()).toEqual([false, true, true]);
  record({ accountId: 'A', xmlBytes: 100 * 1024 }, 50);
  expect(heavy()).toEqual([false, false, true]);
});

test('while the longest receipts are printed, the process does other things', async () => {
  const longest = printable(aReceiptOf('ETICKET', 700));
  let turns = 0;
  const other = setInterval(() => (turns += 1), 1);
  try {
    await Promise.all([drawReceipt(longest, 'A4'), drawReceipt(longest, '58mm')]);
  } finally {
    clearInterval(other);
  }
  // Drawn in this thread, they would leave it no turn at all.
  expect(turns).toBeGreaterThan(10);
});
