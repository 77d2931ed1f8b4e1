/** Long receipts: what is repeated on every sheet, what stands on the last alone, and that nothing gets lost. */
import { expect } from '@jest/globals';
import type { CfeDocument } from '../../../src/domain/receipts/cfeDocument.ts';
import { PAPER_SIZES } from '../../../src/domain/receipts/qr.ts';
import { NIGHTLY } from '../../support/nightly.ts';
import { drawReceipt } from '../../support/print/drawn.ts';
import { codeOn, pagesOf, textOf } from '../../support/print/outside.ts';
import { testWithPoppler } from '../../support/print/poppler.ts';
import { printable } from '../../support/print/printable.ts';
import { aReceiptOf } from '../../support/print/samples.ts';

const LINES = NIGHTLY ? [1, 30, 200, 700] : [1, 30, 200];
const WIDEST_LINES = NIGHTLY ? 700 : 100;
const ALL = LINES.flatMap((count) => PAPER_SIZES.map((paper) => [count, paper] as const));

testWithPoppler.each(ALL)('%d lines on %s', async (count, paper) => {
  const document = aReceiptOf(count > 200 ? 'ETICKET' : 'EFACTURA', count);
  const pdf = await drawReceipt(printable(document), paper);
  const pages = pagesOf(pdf);
  // A roll is one page of up to 5.08 m, with the sums at its end.
  if (paper !== 'A4' && count <= 200) expect(pages.length).toBe(1);
  for (const [index, { height, words }] of pages.entries()) {
    expect(height).toBeLessThanOrEqual(paper === 'A4' ? 356 : 5080);
    const text = words.map((word) => word.text).join(' ');
    for (const repeated of [
      'Almacén Ñandú S.R.L.',
      'RUC 219999830019',
      'Serie B N.º 1042',
      ...(count > 200 ? ['e-Ticket', 'Inés Güemes'] : ['e-Factura', 'Cooperativa El Ombú', '214844360018']),
      'Código de seguridad',
    ])
      expect([index, text]).toEqual([index, expect.stringContaining(repeated)]);
    expect(text.includes('Fecha de vencimiento')).toBe(index === pages.length - 1);
    expect(text.includes('CAE N.º')).toBe(index === pages.length - 1);
    expect(text.includes('Página')).toBe(pages.length > 1);
    if (pages.length > 1) expect(text).toContain(`Página ${index + 1} de ${pages.length}`);
    expect(Math.min(...words.map((word) => height - word.bottom))).toBeGreaterThan(5);
  }
  for (const page of new Set([1, Math.ceil(pages.length / 2), pages.length]))
    expect(codeOn(pdf, page, 203)?.text).toContain(',B,1042,');
  const names = [...textOf(pdf).matchAll(/Producto (\d+) de almacén/g)].map(([, number]) => Number(number));
  expect(names).toEqual(document.lines.slice(0, count).map((_, index) => index));
});

const wide = (length: number): string => 'Ñandúes '.repeat(length).slice(0, length).trimEnd();

/** The longest texts that a CFE may have, everywhere. */
function longest(): CfeDocument {
  const plain = aReceiptOf('EFACTURA', 3);
  const figures = {
    quantity: '99999999999999.999',
    unitPrice: '99999999999.999999',
    amount: '999999999999999.99',
  };
  return {
    ...plain,
    information: wide(150),
    adenda: `${wide(5000)}\n\n${wide(4900)}`,
    issuer: { ...plain.issuer, legalName: wide(150), tradeName: wide(30), address: wide(70), city: wide(30) },
    receiver: {
      ...plain.receiver,
      legalName: wide(150),
      address: wide(70),
      city: wide(30),
      department: wide(30),
      purchaseOrder: 'X'.repeat(50),
    },
    totals: { ...plain.totals, total: figures.amount, pay: figures.amount },
    lines: plain.lines.map((line) => ({
      ...line,
      ...figures,
      name: wide(80),
      description: wide(1000),
      unit: 'WWWW',
    })),
  };
}

testWithPoppler.each(PAPER_SIZES)(
  'the longest texts and figures stay on %s, none on another',
  async (paper) => {
    const pdf = await drawReceipt(printable(longest(), { website: wide(100) }), paper);
    const pages = pagesOf(pdf);
    for (const { width, height, words } of pages) {
      for (const word of words) {
        expect(Math.min(word.left, width - word.right, word.top, height - word.bottom)).toBeGreaterThan(4.9);
        expect(word.capitals).toBeGreaterThan(1.98);
      }
      const rows = words.toSorted((one, other) => one.left - other.left);
      for (const [index, one] of rows.entries())
        for (const other of rows.slice(index + 1)) {
          if (other.left > one.right - 0.1) break;
          const shared = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
          expect([one.text, other.text, shared < 0.1]).toEqual([one.text, other.text, true]);
        }
    }
    const text = textOf(pdf);
    for (const figure of ['99.999.999.999.999,999', '99.999.999.999,999999', '999.999.999.999.999,99'])
      expect(text).toContain(figure);
  },
);

testWithPoppler(
  `${WIDEST_LINES} lines of the widest letters there are get printed too, and the next receipt after them`,
  async () => {
    const plain = aReceiptOf('ETICKET', WIDEST_LINES);
    const widest = '‱';
    const document: CfeDocument = {
      ...plain,
      issuer: { ...plain.issuer, legalName: widest.repeat(150), address: widest.repeat(70) },
      receiver: { ...plain.receiver, legalName: widest.repeat(150) },
      lines: plain.lines.map((line) => ({
        ...line,
        name: widest.repeat(80),
        description: widest.repeat(1000),
      })),
    };
    const pdf = await drawReceipt(printable(document, { environment: 'sandbox', rejected: true }), '58mm');
    expect(pdf.length).toBeLessThan(32e6);
    expect(pdf.subarray(0, 8).toString()).toBe('%PDF-1.7');
    expect(textOf(await drawReceipt(printable(aReceiptOf('ETICKET')), 'A4'))).toContain('Gracias');
  },
);
