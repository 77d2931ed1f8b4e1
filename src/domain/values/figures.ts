/** Formats figures and dates for Uruguay (es-UY), or in English, from text and without arithmetic. */

/** The signs between thousands, and before decimals. */
export interface Numerals {
  readonly thousands: string;
  readonly decimals: string;
}
/** `1.234,56` */
export const SPANISH: Numerals = { thousands: '.', decimals: ',' };
/** `1,234.56` */
export const ENGLISH: Numerals = { thousands: ',', decimals: '.' };

/**
 * Formats `-1234.500` as `-1.234,50`: at least `decimals`, and more if they are not zero; all decimals by default. Returns
 * other text unchanged.
 */
export function decimalText(text: string, decimals?: number, numerals = SPANISH): string {
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  if (whole === '') return text;
  const grouped = whole.replace(/^0+(?=\d)/, '').replace(/\B(?=(\d{3})+$)/g, numerals.thousands);
  const digits = decimals === undefined ? fraction : fraction.replace(/0+$/, '').padEnd(decimals, '0');
  return sign + grouped + (digits === '' ? '' : `${numerals.decimals}${digits}`);
}

/** Formats money and unit prices: two decimals or more. */
export const money = (text: string, numerals = SPANISH): string => decimalText(text, 2, numerals);

/** Formats money for running text, with a minus sign instead of a hyphen. */
export const signedMoney = (text: string): string => money(text).replace('-', '−');

/** Formats quantities and percentages: `2.000` as `2`. */
export const quantity = (text: string): string => decimalText(text, 0);

/** Formats `2026-11-22…` as `22/11/2026`. */
export const dateText = (date: string): string => date.slice(0, 10).split('-').toReversed().join('/');
