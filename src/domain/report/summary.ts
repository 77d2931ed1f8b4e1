/**
 * What one enterprise issued and annulled on one day, as the daily report tells it: counts, ranges of numbers and sums in
 * pesos by type (Formato Reporte v13.2, zone B; docs/authority/reports.md). It is fed one receipt and one annulled range
 * at a time, in any order, and holds only the ranges and the rows of amounts.
 */
import Big from 'big.js';
import type { Totals } from '../cfeDocument.ts';
import { CFE_TYPE_NAMES, type CfeType, cfeTypeRow } from '../cfeTypes.ts';
import { amountText, roundHalfUp } from '../decimal.ts';
import type { WantedRate } from '../exchangeRate.ts';
import { identificationLimit, selectUiValue, type UiValueRow } from '../uiValues.ts';
import { createRanges, type Ranges, type SerieRange } from './ranges.ts';
import { rateSource, wantedRate } from './rate.ts';

/** A receipt that the authority has and did not reject, as far as the report looks at it. */
export interface IssuedReceipt {
  readonly type: CfeType;
  readonly serie: string;
  readonly numero: number;
  /** `YYYY-MM-DD` */
  readonly emissionDate: string;
  /** CdgDGISucur. */
  readonly branch: number;
  /** As stored in its document. */
  readonly totals: Totals;
}

/** Numbers that never became a receipt. */
interface AnnulledNumbers extends SerieRange {
  readonly type: CfeType;
}

/** Sums of one day of emission and branch, in pesos: decimal texts with 2 decimals, none below zero. */
export interface AmountRow extends Readonly<Record<Component, string>> {
  readonly emissionDate: string;
  readonly branch: number;
  /** The sum of the others, as rounded. */
  readonly total: string;
}

/** What the report says of one type. */
export interface TypeSummary {
  readonly type: CfeType;
  /** Issued and annulled together. */
  readonly used: number;
  readonly annulled: number;
  readonly issued: number;
  /** e-Tickets and their notes issued above 5,000 UI net; null for the other types, whose summary has no such count. */
  readonly aboveUiLimit: number | null;
  /** Of the numbers used, annulled ones included; by serie and number. */
  readonly usedRanges: readonly SerieRange[];
  readonly annulledRanges: readonly SerieRange[];
  /** By date and branch; none where nothing was issued. */
  readonly rows: readonly AmountRow[];
}

/** Plain data; what is equal stands in the same order, so that its JSON can be compared. */
export interface ReportSummary {
  /** CantComprobantes: numbers used, of all types. */
  readonly used: number;
  /** Types with a number used that day, by code. */
  readonly types: readonly TypeSummary[];
}

/** How an amount in another currency becomes pesos. */
interface Conversion {
  /** Date of the report's signature in Montevideo (TmstFirmaEnv). */
  readonly signedOn: string;
  /**
   * Pesos for one unit by that quotation, as decimal text; null where the currency is quoted nowhere, and then the
   * receipts' own rates count. Asked for what `wantedRates` names.
   */
  readonly rateOf: (wanted: WantedRate) => string | null;
}

export interface DaySums {
  /** Throws NumberTwice where a number was added before, at the latest by `close`. */
  addIssued(receipt: IssuedReceipt): void;
  addAnnulled(numbers: AnnulledNumbers): void;
  /** The quotations that `close` needs, each once, by currency and day. */
  wantedRates(signedOn: string): WantedRate[];
  /** The report's content. May be called again, with other rates. Throws ReportTooLarge and NumberTwice. */
  close(conversion: Conversion): ReportSummary;
}

/** The day does not fit into one report of the authority's format. The message is for operators. */
export class ReportTooLarge extends Error {
  override readonly name = 'ReportTooLarge';
}

/**
 * Rows of amounts for each type (Formato Reporte v13.2, zone B).
 * @internal
 */
export const MOST_ROWS = 1_000;
/**
 * Ranges in each list of a type (ReporteDiarioCFE.xsd 1.44.2).
 * @internal
 */
export const MOST_RANGES = 10_000;
/** MontoType: 15 digits and 2 decimals. */
const LARGEST_AMOUNT = Big('999999999999999.99');

/** Sums in another currency, of receipts that count by the central bank's rate. */
interface Foreign {
  readonly inCurrency: Amounts;
  /** The same in pesos by each receipt's own rate, which counts where the bank has none. */
  readonly byOwnRate: Amounts;
}

interface Row {
  readonly emissionDate: string;
  readonly branch: number;
  readonly pesos: Amounts;
  readonly foreign: Map<string, Foreign>;
}

interface OfType {
  readonly used: Ranges;
  readonly annulled: Ranges;
  readonly rows: Map<string, Row>;
  aboveUiLimit: number;
}

/** An empty day. `uiValues`: the values of the UI that are known, at least one. */
export function createDaySums(uiValues: readonly UiValueRow[]): DaySums {
  const types = new Map<CfeType, OfType>();
  const limits = new Map<string, Big>();
  const limitOn = (emissionDate: string): Big => {
    const year = emissionDate.slice(0, 4);
    const known = limits.get(year) ?? identificationLimit(selectUiValue(uiValues, Number(year)));
    limits.set(year, known);
    return known;
  };
  const ofType = (type: CfeType): OfType => {
    const held = types.get(type);
    if (held) return held;
    const fresh = {
      used: createRanges(named(type)),
      annulled: createRanges(named(type)),
      rows: new Map<string, Row>(),
      aboveUiLimit: 0,
    };
    types.set(type, fresh);
    return fresh;
  };
  return {
    addIssued(receipt) {
      const { type, serie, numero, emissionDate, totals } = receipt;
      const held = ofType(type);
      held.used.add({ serie, from: numero, to: numero });
      const amounts = carriedAmounts(type, totals);
      addToRow(rowOf(held.rows, receipt), receipt, amounts);
      if (cfeTypeRow(type).family !== 'ticket') return;
      if (netOf(amounts).times(totals.exchangeRate).gt(limitOn(emissionDate))) held.aboveUiLimit += 1;
    },
    addAnnulled({ type, ...range }) {
      const held = ofType(type);
      held.used.add(range);
      held.annulled.add(range);
    },
    wantedRates(signedOn) {
      const wanted = [...types.values()]
        .flatMap(({ rows }) => [...rows.values()])
        .flatMap(({ foreign, emissionDate }) =>
          [...foreign.keys()].flatMap((currency) => wantedRate(currency, emissionDate, signedOn) ?? []),
        );
      const each = new Map(wanted.map((one) => [`${one.currency} ${one.date}`, one]));
      return [...each].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
    },
    close(conversion) {
      const summaries = CFE_TYPE_NAMES.flatMap((type) => {
        const held = types.get(type);
        return held ? [closeType(type, held, conversion)] : [];
      });
      return { used: summaries.reduce((sum, { used }) => sum + used, 0), types: summaries };
    },
  };
}

function rowOf(rows: Map<string, Row>, { emissionDate, branch }: IssuedReceipt): Row {
  const key = `${emissionDate} ${branch}`;
  const held = rows.get(key);
  if (held) return held;
  const fresh = { emissionDate, branch, pesos: noAmounts(), foreign: new Map<string, Foreign>() };
  rows.set(key, fresh);
  return fresh;
}

function addToRow(row: Row, { type, totals }: IssuedReceipt, amounts: readonly [Component, Big][]): void {
  const { currency, exchangeRate } = totals;
  const source = rateSource(type, currency);
  if (source === 'none') return addTo(row.pesos, amounts);
  if (source === 'own') return addTo(row.pesos, amounts, Big(exchangeRate));
  const sums = row.foreign.get(currency) ?? { inCurrency: noAmounts(), byOwnRate: noAmounts() };
  row.foreign.set(currency, sums);
  addTo(sums.inCurrency, amounts);
  addTo(sums.byOwnRate, amounts, Big(exchangeRate));
}

function closeType(type: CfeType, held: OfType, conversion: Conversion): TypeSummary {
  const usedRanges = held.used.merged();
  const annulledRanges = held.annulled.merged();
  const used = countOf(usedRanges);
  const annulled = countOf(annulledRanges);
  const { family } = cfeTypeRow(type);
  const of = named(type);
  atMost(MOST_RANGES, usedRanges.length, `ranges of used numbers of ${of}`);
  atMost(MOST_ROWS, held.rows.size, `days of emission and branches of ${of}`);
  const rows = [...held.rows.values()]
    .toSorted((a, b) =>
      a.emissionDate === b.emissionDate ? a.branch - b.branch : a.emissionDate < b.emissionDate ? -1 : 1,
    )
    .map((row) => closeRow(row, conversion, of));
  return {
    type,
    used,
    annulled,
    issued: used - annulled,
    aboveUiLimit: family === 'ticket' ? held.aboveUiLimit : null,
    usedRanges,
    annulledRanges,
    rows,
  };
}

const named = (type: CfeType): string => `${cfeTypeRow(type).label} (${cfeTypeRow(type).code})`;

const countOf = (ranges: readonly SerieRange[]): number =>
  ranges.reduce((count, { from, to }) => count + to - from + 1, 0);

function atMost(most: number, found: number, what: string): void {
  if (found <= most) return;
  throw new ReportTooLarge(
    `The day has ${found} ${what}; one report holds ${most}, and a day has one report. Nothing was sent: this day must be settled with the authority.`,
  );
}

/** Rounded once for each component, and the total is the sum of what was rounded (docs/authority/reports.md#rounding). */
function closeRow(
  { emissionDate, branch, pesos, foreign }: Row,
  conversion: Conversion,
  of: string,
): AmountRow {
  const sums = { ...pesos };
  for (const [currency, { inCurrency, byOwnRate }] of foreign) {
    const wanted = wantedRate(currency, emissionDate, conversion.signedOn);
    const rate = wanted && conversion.rateOf(wanted);
    for (const component of COMPONENTS) {
      const more = rate === null ? byOwnRate[component] : inCurrency[component].times(rate);
      sums[component] = sums[component].plus(more);
    }
  }
  const rounded = COMPONENTS.map((component) => [component, roundHalfUp(sums[component], 2)] as const);
  const total = rounded.reduce((sum, [, amount]) => sum.plus(amount), Big(0));
  if (total.gt(LARGEST_AMOUNT)) {
    throw new ReportTooLarge(
      `The amounts of ${of}, emitted on ${emissionDate} by branch ${branch}, come to more than 15 digits, which no report holds. Nothing was sent: this day must be settled with the authority.`,
    );
  }
  const texts = Object.fromEntries(rounded.map(([component, amount]) => [component, amountText(amount)]));
  return { emissionDate, branch, ...(texts as Record<Component, string>), total: amountText(total) };
}

/** The amounts of a receipt that the report sums, by the names that `Totals` gives them. */
const COMPONENTS = ['exempt', 'exported', 'minimumNet', 'basicNet', 'minimumVat', 'basicVat'] as const;
type Component = (typeof COMPONENTS)[number];
type Amounts = Record<Component, Big>;

const ZERO = Big(0);
const noAmounts = (): Amounts => ({
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
function carriedAmounts(type: CfeType, totals: Totals): [Component, Big][] {
  const carried = cfeTypeRow(type).family === 'export' ? (['exported'] as const) : COMPONENTS;
  return carried.flatMap((component): [Component, Big][] => {
    if (NOTHING.test(totals[component])) return [];
    if (component === 'minimumVat' && NOTHING.test(totals.minimumNet)) return [];
    if (component === 'basicVat' && NOTHING.test(totals.basicNet)) return [];
    return [[component, Big(totals[component])]];
  });
}

/** Adds to `sums` in place, each amount times `rate`, exactly: nothing is rounded. */
function addTo(sums: Amounts, amounts: Iterable<readonly [Component, Big]>, rate?: Big): void {
  for (const [component, amount] of amounts)
    sums[component] = sums[component].plus(rate ? amount.times(rate) : amount);
}

/** All without VAT (Formato CFE v25.2, zone A, fields 112 to 118). */
function netOf(amounts: Iterable<readonly [Component, Big]>): Big {
  let net = ZERO;
  for (const [component, amount] of amounts)
    if (component !== 'minimumVat' && component !== 'basicVat') net = net.plus(amount);
  return net;
}
