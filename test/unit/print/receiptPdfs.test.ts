import { expect, test } from '@jest/globals';
import type { PaperSize } from '../../../src/domain/receipts/qr.ts';
import { drawReceipt } from '../../../src/print/drawReceipt.ts';
import { createReceiptPdfs, type Draw, type PrintableCfe } from '../../../src/print/receiptPdfs.ts';
import { printable } from '../../support/print/printable.ts';
import { aReceiptOf } from '../../support/print/samples.ts';

const aCfe = (more: Partial<PrintableCfe> = {}): PrintableCfe => ({
  id: '1',
  accountId: 'A',
  status: 'ACCEPTED',
  digest: 'hash',
  xmlBytes: 10,
  ...more,
});

const unread = (): Promise<never> => Promise.reject(new Error('was read'));

/** Prints of ten bytes each, of which `mostBytes` are kept; tells what was drawn. */
function pdfsOf(mostBytes: number) {
  const drawn: string[] = [];
  const draw: Draw = async ({ id }, paper) => {
    drawn.push(`${id} ${paper}`);
    return Buffer.alloc(10);
  };
  const pdfs = createReceiptPdfs({ draw, mostBytes });
  return {
    drawn,
    ask: (more: Partial<PrintableCfe>, paper: PaperSize = 'A4') => pdfs.pdf(aCfe(more), paper, unread),
  };
}

test('what was asked for last is kept, up to so many bytes', async () => {
  const { drawn, ask } = pdfsOf(45);
  // Each of an account of its own.
  for (const id of ['1', '2', '3', '4', '1', '5', '1', '2']) await ask({ id, accountId: id });

  // With the 5 the 2 goes, which was not asked for as lately as the 1.
  expect(drawn).toEqual(['1 A4', '2 A4', '3 A4', '4 A4', '5 A4', '2 A4']);
});

test('the prints of one account take a quarter of the memory, and drive out no other', async () => {
  const { drawn, ask } = pdfsOf(80);
  await ask({ id: 'other', accountId: 'B' });
  for (const id of ['1', '2', '3', '4', '5', '6', '7', '8', '9']) await ask({ id });
  await ask({ id: 'other', accountId: 'B' });
  await ask({ id: '9' });
  await ask({ id: '8' });
  expect(drawn).toHaveLength(10);

  await ask({ id: '7' });
  expect(drawn).toHaveLength(11);
});

test('one that is larger than all that is kept is answered, and not kept', async () => {
  const { drawn, ask } = pdfsOf(5);
  expect((await ask({})).bytes).toHaveLength(10);
  await ask({});
  expect(drawn).toHaveLength(2);
});

test('whatever shows on a print makes it another, and nothing else does', async () => {
  const { drawn, ask } = pdfsOf(1_000);
  for (const more of [{}, { id: '2' }, { digest: 'other' }, { status: 'REJECTED' }] as const) await ask(more);
  await ask({}, '80mm');
  expect(drawn).toHaveLength(5);

  await ask({ status: 'OBSERVED' });
  expect(drawn).toHaveLength(5);
});

test('what several ask for at once is drawn once, and read once', async () => {
  let reads = 0;
  const pdfs = createReceiptPdfs({ draw: drawReceipt });
  const receipt = printable(aReceiptOf('ETICKET'));
  const read = async () => {
    reads += 1;
    return receipt;
  };

  // As a receipt that goes to twenty addresses is asked for.
  const files = await Promise.all(Array.from({ length: 20 }, () => pdfs.pdf(aCfe(), 'A4', read)));
  const later = await pdfs.pdf(aCfe(), 'A4', unread);

  expect(reads).toBe(1);
  expect(new Set([...files, later].map(({ sha256 }) => sha256)).size).toBe(1);
});

test('a print that fails is tried again by the next who asks', async () => {
  let fails = true;
  const draw: Draw = async () => {
    if (fails) throw new Error('at once');
    return Buffer.alloc(1);
  };
  const pdfs = createReceiptPdfs({ draw });
  await expect(pdfs.pdf(aCfe(), 'A4', unread)).rejects.toThrow('at once');
  fails = false;
  expect((await pdfs.pdf(aCfe(), 'A4', unread)).bytes).toHaveLength(1);
});
