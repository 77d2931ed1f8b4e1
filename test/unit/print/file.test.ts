import { expect } from '@jest/globals';
import { drawReceipt } from '../../../src/print/drawReceipt.ts';
import { aDocument } from '../../bench/document.ts';
import { attachmentOf, fontsOf } from '../../support/print/outside.ts';
import { testWithPoppler } from '../../support/print/poppler.ts';
import { printable } from '../../support/print/printable.ts';

testWithPoppler('the signed CFE is inside, byte for byte', async () => {
  const receipt = printable(aDocument(3));
  expect(attachmentOf(await drawReceipt(receipt, '58mm'))).toEqual({
    name: '219999830019-101-A-1.xml',
    content: receipt.xml,
  });
});

testWithPoppler('every font is embedded as a subset, with its characters', async () => {
  const fonts = fontsOf(await drawReceipt(printable(aDocument(3)), 'A4'));
  expect(fonts).toHaveLength(2);
  for (const font of fonts)
    expect(font).toMatch(/NotoSans-(Bold|Regular) +CID TrueType +Identity-H +yes yes yes/);
});
