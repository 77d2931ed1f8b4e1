import Big from 'big.js';

/**
 * How far a VAT amount may lie from base × rate, rounded half-up: a cent (no document names it;
 * docs/authority/amounts.md#rounding).
 */
export const VAT_TOLERANCE = new Big('0.01');
/**
 * How far a base computed from gross prices may lie from sum / 1.10 or 1.22: a cent
 * (docs/authority/amounts.md#rounding).
 */
export const GROSS_BASE_TOLERANCE = new Big('0.01');
/** How far a line may lie from quantity × price: half a cent, which allows any way of rounding. */
export const LINE_TOLERANCE = new Big('0.005');

/** VAT rates of Table B, in percent: by IndFact, with the elements that carry base, rate and VAT. */
export const VAT_RATES = [
  { indFact: 2, percent: '10', base: 'MntNetoIvaTasaMin', rate: 'IVATasaMin', vat: 'MntIVATasaMin' },
  { indFact: 3, percent: '22', base: 'MntNetoIVATasaBasica', rate: 'IVATasaBasica', vat: 'MntIVATasaBasica' },
] as const;

/** Bases that count for the threshold of Table E and, with the VAT amounts, for MntTotal (A-C112 … A-C118). */
export const NET_ELEMENTS = [
  'MntNoGrv',
  'MntExpoyAsim',
  'MntImpuestoPerc',
  'MntIVaenSusp',
  'MntNetoIvaTasaMin',
  'MntNetoIVATasaBasica',
  'MntNetoIVAOtra',
] as const;
export const VAT_ELEMENTS = ['MntIVATasaMin', 'MntIVATasaBasica', 'MntIVAOtra'] as const;

/** Above this net amount in indexed units an e-Ticket must name its receiver (Table E, since 2022-11-01). */
export const RECEIVER_THRESHOLD_UI = new Big(5000);

/**
 * Value of the indexed unit on 31 December of the year before, by year of emission. Only values with a source are
 * listed (2026: 6.4208 on 2025-12-22, INE, quoted by El País); other years are judged by the nearest row.
 */
const UI_VALUES: readonly { readonly year: number; readonly value: string }[] = [
  { year: 2026, value: '6.4208' },
];

/** The indexed unit's value for the threshold of a year. */
export function uiValue(year: number): Big {
  const nearest = [...UI_VALUES].sort((a, b) => Math.abs(a.year - year) - Math.abs(b.year - year))[0];
  return new Big(nearest?.value ?? '0');
}

/** ModVenta by family (Formato CFE v25.2, zone A, field 14). */
export const SALE_MODES: Readonly<Record<string, readonly string[]>> = {
  ticket: ['80', '90'],
  invoice: ['90'],
  export: ['1', '2', '3', '4', '90', '91', '99'],
};

/** Days that a date may lie ahead of the authority's clock: emission (A-C5) and signature (zone H). */
export const EMISSION_DAYS_AHEAD = 60;
export const SIGNATURE_DAYS_AHEAD = 1;
