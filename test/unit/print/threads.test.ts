/** Printing beside everything else: who comes when too many wait, and a thread that fails. */
import { expect, test } from '@jest/globals';
import { Refusal } from '../../../src/errors.ts';
import { drawReceipt } from '../../../src/print/drawReceipt.ts';
import { printable } from '../../support/print/printable.ts';
import { aReceiptOf } from '../../support/print/samples.ts';

const isPdf = (bytes: Buffer): boolean => bytes.subarray(0, 5).toString() === '%PDF-';

test('a receipt that cannot be read fails alone, without its text in the words', async () => {
  const good = printable(aReceiptOf('ETICKET'));
  const attempts = await Promise.allSettled([
    drawReceipt({ ...good, xml: '<CFE>Secreto' }, 'A4'),
    drawReceipt(
      { ...good, rut: '210000000017', xml: good.xml.replace('<TipoCFE>101', '<TipoCFE>999') },
      'A4',
    ),
    drawReceipt({ ...good, rut: '210000000025' }, 'A4'),
  ]);
  expect(attempts.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
  const [first] = attempts;
  expect(first?.status === 'rejected' && String(first.reason)).toBe('Error: a receipt could not be printed');
  expect(isPdf(await drawReceipt(good, 'A4'))).toBe(true);
});

test('no more than eight prints of an issuer wait; the next is told when to come again, others are served', async () => {
  const mine = printable(aReceiptOf('ETICKET', 200));
  const prints = Array.from({ length: 12 }, () => drawReceipt(mine, '80mm'));
  const other = drawReceipt({ ...mine, rut: '210000000017' }, '80mm');
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
  const prints = Array.from({ length: 40 }, (_, index) =>
    drawReceipt({ ...receipt, rut: `issuer ${index}` }, 'A4'),
  );
  const ended = await Promise.allSettled(prints);
  expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(26);
});

test('while the longest receipts are printed, the process does other things', async () => {
  const longest = printable(aReceiptOf('ETICKET', 700));
  let turns = 0;
  const other = setInterval(() => (turns += 1), 1);
  try {
    await Promise.all([drawReceipt(longest, 'A4'), drawReceipt({ ...longest, rut: '210000000017' }, '58mm')]);
  } finally {
    clearInterval(other);
  }
  // Drawn in this thread, they would leave it no turn at all.
  expect(turns).toBeGreaterThan(10);
});
