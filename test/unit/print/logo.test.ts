import { deflateSync } from 'node:zlib';
import { expect } from '@jest/globals';
import { PAPER_SIZES } from '../../../src/domain/receipts/qr.ts';
import { A_JPEG, A_LOGO } from '../../support/console/pictures.ts';
import { drawReceipt } from '../../support/print/drawn.ts';
import { pagesOf, picture } from '../../support/print/outside.ts';
import { testWithPoppler } from '../../support/print/poppler.ts';
import { printable } from '../../support/print/printable.ts';
import { aReceiptOf } from '../../support/print/samples.ts';

/** Height in millimetres of what is drawn above the first word. */
async function drawnAbove(
  logo: Uint8Array | undefined,
  paper: (typeof PAPER_SIZES)[number],
): Promise<number> {
  const pdf = await drawReceipt(printable(aReceiptOf('ETICKET', 1), { logo }), paper);
  const name = pagesOf(pdf)[0]?.words.find(({ text }) => text === 'Almacén');
  const dpi = 203;
  const { grey } = picture(pdf, 1, dpi, { left: 0, top: 0, width: 45, height: name?.top ?? 0 });
  return grey.some((value) => value < 128) ? (name?.top ?? 0) : 0;
}

testWithPoppler.each(PAPER_SIZES)(
  'a logo stands at the top of %s and takes less than a fifth',
  async (paper) => {
    const below = await drawnAbove(A_LOGO, paper);
    expect(below).toBeGreaterThan(5);
    expect(below).toBeLessThan(0.2 * (paper === 'A4' ? 297 : 200));
  },
);

const damaged = (): Buffer => {
  const file = Buffer.from(A_LOGO);
  const at = file.indexOf('IDAT') + 4;
  file.fill(0x55, at + 10, at + 60);
  return file;
};
const cutShort = (): Buffer => {
  const at = A_LOGO.indexOf('IDAT');
  const data = deflateSync(Buffer.alloc(100));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  return Buffer.concat([
    A_LOGO.subarray(0, at - 4),
    length,
    Buffer.from('IDAT'),
    data,
    Buffer.alloc(4),
    A_LOGO.subarray(-12),
  ]);
};

/** Says that its lines are interlaced, which they are not. */
const interlaced = (): Buffer => {
  const file = Buffer.from(A_LOGO);
  file[28] = 1;
  return file;
};

testWithPoppler.each([
  ['whose lines are told to be interlaced', interlaced()],
  ['whose pixels are damaged', damaged()],
  ['that has too few pixels', cutShort()],
])('a PNG %s is left out, and the receipt printed', async (_, logo) => {
  expect(await drawnAbove(logo, 'A4')).toBe(0);
});

testWithPoppler('a JPEG without pixels breaks nothing', async () => {
  const pdf = await drawReceipt(printable(aReceiptOf('ETICKET', 1), { logo: A_JPEG }), 'A4');
  expect(pagesOf(pdf)).toHaveLength(1);
});
