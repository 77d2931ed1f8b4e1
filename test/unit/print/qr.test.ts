import { expect, test } from '@jest/globals';
import { aDocument } from '../../bench/tools/document.ts';
import { drawReceipt } from '../../support/print/drawn.ts';
import { codeOn, pagesOf, textOf } from '../../support/print/outside.ts';
import { testWithPoppler } from '../../support/print/poppler.ts';
import { printable } from '../../support/print/printable.ts';

const DIGEST = /<DigestValue>(.*?)<\/DigestValue>/;

testWithPoppler.each([
  ['production', 'consultaQR'],
  ['sandbox', 'consultaQRPrueba'],
] as const)('the QR code of %s leads to %s with what was signed', async (environment, page) => {
  const receipt = printable(aDocument(1), { environment });
  const digest = DIGEST.exec(receipt.xml)?.[1] ?? '';
  const pdf = await drawReceipt(receipt, 'A4');
  const address = `https://www.efactura.dgi.gub.uy/${page}/cfe?219999830019,101,A,1,1220.00,20/11/2026,${encodeURIComponent(digest)}`;
  for (const dpi of [203, 300]) {
    const code = codeOn(pdf, 1, dpi);
    expect(code?.text).toBe(address);
    expect(code?.side).toBeGreaterThanOrEqual(22);
    expect(code?.side).toBeLessThanOrEqual(30);
  }
  expect(textOf(pdf)).toContain(`Código de seguridad ${digest.slice(0, 6)}`);
});

test.each([1, 30])('the same receipt of %d lines gives the same bytes', async (count) => {
  const receipt = printable(aDocument(count));
  const [one, other] = [await drawReceipt(receipt, '80mm'), await drawReceipt({ ...receipt }, '80mm')];
  expect(one.equals(other)).toBe(true);
});

testWithPoppler('a receipt of one line is one sheet', async () => {
  const pages = pagesOf(await drawReceipt(printable(aDocument(1)), 'A4'));
  expect(pages.map(({ width, height }) => [Math.round(width), Math.round(height)])).toEqual([[210, 297]]);
});
