import { expect, test } from '@jest/globals';
import { createReceiptPdfs } from '../../../src/api/receiptPdfs.ts';
import type { Paper } from '../../../src/domain/paper.ts';
import type { PrintedReceipt } from '../../../src/print/receipt.ts';

const aReceipt = (more: Partial<PrintedReceipt> = {}): PrintedReceipt => ({
  rut: '219999830019',
  xml: '<CFE/>',
  environment: 'production',
  rejected: false,
  website: 'tienda.example',
  ...more,
});

/** Prints of ten bytes each, of which `mostBytes` are kept; tells what was drawn. */
function pdfsOf(mostBytes: number) {
  const drawn: string[] = [];
  const draw = async ({ xml }: PrintedReceipt, paper: Paper) => {
    drawn.push(`${xml} ${paper}`);
    return Buffer.alloc(10);
  };
  return { drawn, pdfs: createReceiptPdfs({ draw, mostBytes }) };
}

test('what was asked for last is kept, up to so many bytes', async () => {
  const { drawn, pdfs } = pdfsOf(25);
  const ask = (xml: string) => pdfs.pdf(aReceipt({ xml }), 'A4');
  for (const xml of ['1', '2', '1', '3', '1', '2']) await ask(xml);

  // With the 3 the 2 goes, which was not asked for as lately as the 1.
  expect(drawn).toEqual(['1 A4', '2 A4', '3 A4', '2 A4']);
});

test('one that is larger than all that is kept is answered, and not kept', async () => {
  const { drawn, pdfs } = pdfsOf(5);
  expect(await pdfs.pdf(aReceipt(), 'A4')).toHaveLength(10);
  await pdfs.pdf(aReceipt(), 'A4');
  expect(drawn).toHaveLength(2);
});

test('whatever shows on a print makes it another', async () => {
  const { drawn, pdfs } = pdfsOf(1_000);
  const others: Partial<PrintedReceipt>[] = [
    {},
    { xml: '<CFE></CFE>' },
    { environment: 'sandbox' },
    { rejected: true },
    { adenda: 'Gracias' },
    { website: 'otra.example' },
    { issuerSince: '2020-01-01' },
    { resolution: '1/2020' },
    { logo: Buffer.from('png') },
    { logo: Buffer.from('jpg') },
  ];
  for (const more of others) await pdfs.pdf(aReceipt(more), 'A4');
  await pdfs.pdf(aReceipt(), '80mm');

  expect(drawn).toHaveLength(others.length + 1);
});

test('a print that fails is tried again by the next who asks', async () => {
  let fails = true;
  const pdfs = createReceiptPdfs({
    draw: () => {
      if (fails) throw new Error('at once');
      return Promise.resolve(Buffer.alloc(1));
    },
  });
  await expect(pdfs.pdf(aReceipt(), 'A4')).rejects.toThrow('at once');
  fails = false;
  expect(await pdfs.pdf(aReceipt(), 'A4')).toHaveLength(1);
});
