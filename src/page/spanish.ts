/** Figures and dates as Uruguay writes them. */

function grouped(digits: string): string {
  const groups: string[] = [];
  for (let end = digits.length; end > 0; end -= 3) groups.unshift(digits.slice(Math.max(0, end - 3), end));
  return groups.join('.');
}

/** Decimal text (`1234.500000`) with at least so many decimals, and no needless zeros beyond: `1.234,50`. */
export function decimalText(text: string, leastDecimals: number): string {
  const [whole = '', decimals = ''] = text.replace('-', '').split('.');
  let kept = decimals.length;
  while (kept > leastDecimals && decimals[kept - 1] === '0') kept -= 1;
  const fraction = decimals.slice(0, kept).padEnd(leastDecimals, '0');
  return `${text.startsWith('-') ? '−' : ''}${grouped(whole)}${fraction === '' ? '' : `,${fraction}`}`;
}

/** An amount of money: two decimals. */
export const amountText = (text: string): string => decimalText(text, 2);

/** `2026-09-15` as `15/09/2026`. */
export const dateText = (date: string): string => date.split('-').toReversed().join('/');
