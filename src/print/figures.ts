/** Figures and dates as they are read in Uruguay (es-UY), from the text of the XML and without arithmetic. */

/** `-1234567.5` → `-1.234.567,50`: `decimals` at least, and more where they are not zero. */
function figure(text: string, decimals: number): string {
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  if (whole === '') return text;
  const grouped = whole.replace(/^0+(?=\d)/, '').replace(/\B(?=(\d{3})+$)/g, '.');
  const shown = fraction.replace(/0+$/, '').padEnd(decimals, '0');
  return sign + grouped + (shown === '' ? '' : `,${shown}`);
}

/** Money, and unit prices: two decimals or more. */
export const money = (text: string): string => figure(text, 2);

/** Quantities and percentages: `2.000` → `2`. */
export const quantity = (text: string): string => figure(text, 0);

/** The sign before an amount that lowers the receipt (IndFact 7): it stands in place of the code. */
export const negative = (text: string): string => (text.startsWith('-') ? text : `-${text}`);

/** `2026-11-22…` → `22/11/2026`. */
export const day = (date: string): string => date.slice(0, 10).split('-').toReversed().join('/');
