/**
 * One picture of each type on each paper, looked at by a person when it was recorded: RECORD_PICTURES=1 records them
 * anew, and they are to be looked at again.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { CFE_TYPE_NAMES } from '../../../src/domain/receipts/cfeTypes.ts';
import { PAPER_SIZES } from '../../../src/domain/receipts/qr.ts';
import { A_LOGO } from '../../support/console/pictures.ts';
import { drawReceipt } from '../../support/print/drawn.ts';
import { picture } from '../../support/print/outside.ts';
import { differenceOf, pngOf, readPng } from '../../support/print/png.ts';
import { testWithPoppler } from '../../support/print/poppler.ts';
import { printable } from '../../support/print/printable.ts';
import { aReceiptOf } from '../../support/print/samples.ts';

const FOLDER = join(import.meta.dirname, '../../fixtures/print');
const DPI = 60;
/** Of 255: what two versions of a rasteriser make of the same letters stays below. */
const MOST_DIFFERENCE = 60;

const ALL = CFE_TYPE_NAMES.flatMap((type) => PAPER_SIZES.map((paper) => [type, paper] as const));

testWithPoppler.each(ALL)('%s on %s looks as it did', async (type, paper) => {
  const pdf = await drawReceipt(printable(aReceiptOf(type), { logo: A_LOGO }), paper);
  const now = picture(pdf, 1, DPI);
  const file = join(FOLDER, `${type}-${paper}.png`);
  if (process.env['RECORD_PICTURES'] || !existsSync(file)) {
    expect(process.env['CI']).toBeUndefined();
    mkdirSync(FOLDER, { recursive: true });
    writeFileSync(file, pngOf(now));
  }
  expect(differenceOf(readPng(readFileSync(file)), now)).toBeLessThan(MOST_DIFFERENCE);
});
