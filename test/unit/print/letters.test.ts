/** Characters: those of the field, those that the font lacks, and what is left of others. */
import { expect, test } from '@jest/globals';
import { drawReceipt } from '../../support/print/drawn.ts';
import { textOf } from '../../support/print/outside.ts';
import { testWithPoppler } from '../../support/print/poppler.ts';
import { printable } from '../../support/print/printable.ts';
import { aReceiptOf } from '../../support/print/samples.ts';

const printed = async (adenda: string): Promise<string> => {
  const text = textOf(await drawReceipt(printable(aReceiptOf('ETICKET', 1), { adenda }), 'A4'));
  return /ADENDA (.*?) Fecha emisor/.exec(text)?.[1] ?? '';
};

testWithPoppler.each([
  [
    'accents and signs',
    'Ñandú, pingüino, ÁÉÍÓÚ áéíóú çãõ ¡Hola! ¿Qué? 1.ª n.º € ½ m² <&> "x" – —',
    undefined,
  ],
  ['other alphabets of the font', 'Ωμέγα Жук हिन्दी', undefined],
  ['letters put together', 'n\u0303andu\u0301', 'ñandú'],
  ['what the font lacks', 'té 茶 ☕ 😀 شاي', 'té □ □ □ □□□'],
  ['the sign itself', '□', '□'],
  ['joiners and selectors', 'a\u200Bb\uFE0Fc\u00ADd', 'abcd'],
  ['a family of emoji', '👨\u200D👩\u200D👧', '□□□'],
  ['other spaces', 'uno\u00A0dos\u2003tres\tcuatro', 'uno dos tres cuatro'],
] as const)('%s', async (_, adenda, expected) => {
  expect(await printed(adenda)).toBe(expected ?? adenda);
});

test.each(['\r\n', '\r'])('a line end %j is a line end, and two are an empty line', async (end) => {
  const drawn = (adenda: string) => drawReceipt(printable(aReceiptOf('ETICKET', 1), { adenda }), 'A4');
  for (const adenda of ['Gracias\npor su compra', 'Gracias\n\npor su compra']) {
    const same = (await drawn(adenda.replaceAll('\n', end))).equals(await drawn(adenda));
    expect([adenda, same]).toEqual([adenda, true]);
  }
});

testWithPoppler('texts that are markup elsewhere are text here', async () => {
  const document = aReceiptOf('EFACTURA', 1);
  const name = 'Tornillos & <b>Tuercas</b> ]]> "3/8" (caja) \\n %PDF';
  const [line] = document.lines;
  if (!line) throw new Error('a receipt has a line');
  const pdf = await drawReceipt(
    printable({
      ...document,
      issuer: { ...document.issuer, legalName: 'Pérez & Hijos <S.A.>' },
      lines: [{ ...line, name }],
    }),
    '80mm',
  );
  expect(textOf(pdf)).toContain(name);
  expect(textOf(pdf)).toContain('Pérez & Hijos <S.A.>');
});
