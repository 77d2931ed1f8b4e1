/** Figures and dates as Uruguay writes them (es-UY), from text and without arithmetic. */

/**
 * `-1234.500` as `-1.234,50`: with `decimals` at least, and more where they are not zero; as many as it has unless told.
 * What is no decimal stays as it is.
 */
export function decimalText(text: string, decimals?: number): string {
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  if (whole === '') return text;
  const grouped = whole.replace(/^0+(?=\d)/, '').replace(/\B(?=(\d{3})+$)/g, '.');
  const shown = decimals === undefined ? fraction : fraction.replace(/0+$/, '').padEnd(decimals, '0');
  return sign + grouped + (shown === '' ? '' : `,${shown}`);
}

/** Money, and unit prices: two decimals or more. */
export const money = (text: string): string => decimalText(text, 2);

/** Money in running text, with a minus sign in place of the hyphen. */
export const signedMoney = (text: string): string => money(text).replace('-', '−');

/** Quantities and percentages: `2.000` as `2`. */
export const quantity = (text: string): string => decimalText(text, 0);

/** `2026-11-22…` as `22/11/2026`. */
export const dateText = (date: string): string => date.slice(0, 10).split('-').toReversed().join('/');
