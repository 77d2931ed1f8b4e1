/** Weighted sum of digits modulo `modulus`. */
const remainder = (digits: string, weights: readonly number[], modulus: number): number =>
  weights.reduce((sum, weight, at) => sum + weight * Number(digits[at]), 0) % modulus;

/** Whether 12 digits are a RUC: the last is the check digit of the others (docs/authority/codes.md#check-digits). */
export const isRuc = (text: string): boolean =>
  /^\d{12}$/.test(text) &&
  (11 - remainder(text, [4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2], 11)) % 11 === Number(text[11]);

/** Whether 7 or 8 digits are the number of a Uruguayan identity card (docs/authority/codes.md#check-digits). */
export function isIdentityCard(text: string): boolean {
  if (!/^\d{7,8}$/.test(text)) return false;
  const digits = text.padStart(8, '0');
  return (10 - remainder(digits, [2, 9, 8, 7, 6, 3, 4], 10)) % 10 === Number(digits[7]);
}

/** The check digit of a CAE's first ten digits, null where the rule has none (docs/authority/codes.md#check-digits). */
export function caeCheckDigit(ten: string): number | null {
  const digit = (11 - remainder(ten, [3, 2, 9, 8, 7, 6, 5, 4, 3, 2], 11)) % 11;
  return digit === 10 ? null : digit;
}

/** Whether a GTIN of `length` digits ends in its GS1 check digit. */
export function isGtin(text: string, length: number): boolean {
  if (!/^\d+$/.test(text) || text.length !== length) return false;
  const weights = Array.from({ length: length - 1 }, (_, at) => ((length - 1 - at) % 2 === 1 ? 3 : 1));
  return (10 - remainder(text, weights, 10)) % 10 === Number(text.at(-1));
}
