import Big from 'big.js';
import type { Totals } from '../cfeDocument.ts';
import { type CfeType, cfeTypeRow } from '../cfeTypes.ts';

/** The amounts of a receipt that the report sums, by the names that `Totals` gives them. */
export const COMPONENTS = ['exempt', 'exported', 'minimumNet', 'basicNet', 'minimumVat', 'basicVat'] as const;
export type Component = (typeof COMPONENTS)[number];
export type Amounts = Record<Component, Big>;

const ZERO = Big(0);
export const noAmounts = (): Amounts => ({
  exempt: ZERO,
  exported: ZERO,
  minimumNet: ZERO,
  basicNet: ZERO,
  minimumVat: ZERO,
  basicVat: ZERO,
});

const NOTHING = /^-?[0.]+$/;

/**
 * The amounts that the signed XML of a receipt carries, in its currency, but for those that are zero: an export document
 * carries what is exported alone, and VAT stands only beside its base (docs/authority/receipts.md#totals). The authority
 * can compare with nothing else.
 */
export function carriedAmounts(type: CfeType, totals: Totals): [Component, Big][] {
  const carried = cfeTypeRow(type).family === 'export' ? (['exported'] as const) : COMPONENTS;
  return carried.flatMap((component): [Component, Big][] => {
    if (NOTHING.test(totals[component])) return [];
    if (component === 'minimumVat' && NOTHING.test(totals.minimumNet)) return [];
    if (component === 'basicVat' && NOTHING.test(totals.basicNet)) return [];
    return [[component, Big(totals[component])]];
  });
}

/** Adds to `sums` in place, each amount times `rate`, exactly: nothing is rounded. */
export function addTo(sums: Amounts, amounts: Iterable<readonly [Component, Big]>, rate?: Big): void {
  for (const [component, amount] of amounts)
    sums[component] = sums[component].plus(rate ? amount.times(rate) : amount);
}

/** All without VAT (Formato CFE v25.2, zone A, fields 112 to 118). */
export function netOf(amounts: Iterable<readonly [Component, Big]>): Big {
  let net = ZERO;
  for (const [component, amount] of amounts)
    if (component !== 'minimumVat' && component !== 'basicVat') net = net.plus(amount);
  return net;
}
