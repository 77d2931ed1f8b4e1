import { expect, test } from '@jest/globals';
import { html } from '../../../src/page/html.ts';
import { amountText, dateText, decimalText } from '../../../src/page/spanish.ts';

test.each([
  ['0.00', '0,00'],
  ['1.00', '1,00'],
  ['999.90', '999,90'],
  ['1000.00', '1.000,00'],
  ['123456789012345.67', '123.456.789.012.345,67'],
  ['-1234.50', '−1.234,50'],
])('%s is %s', (text, shown) => expect(amountText(text)).toBe(shown));

test.each([
  ['2.000', 0, '2'],
  ['2.500', 0, '2,5'],
  ['1000.001', 0, '1.000,001'],
  ['10.000000', 2, '10,00'],
  ['10.123456', 2, '10,123456'],
  ['10.100000', 2, '10,10'],
  ['7', 2, '7,00'],
])('%s with at least %i decimals is %s', (text, least, shown) =>
  expect(decimalText(text, least)).toBe(shown),
);

test('a date', () => expect(dateText('2026-09-05')).toBe('05/09/2026'));

test('what stands in HTML is text, unless it is HTML', () => {
  const value = `<a href="x">'&`;
  expect(html`<p title="${value}">${value}${html`<b>${1}</b>`}${[value, null]}${undefined}</p>`.text).toBe(
    '<p title="&lt;a href=&quot;x&quot;&gt;&#39;&amp;">&lt;a href=&quot;x&quot;&gt;&#39;&amp;<b>1</b>&lt;a href=&quot;x&quot;&gt;&#39;&amp;</p>',
  );
});
