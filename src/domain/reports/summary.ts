/**
 * Sums the issued and annulled numbers of one enterprise and day for the daily report: counts, ranges and amounts in pesos
 * by type (Formato Reporte v13.2, zone B; docs/authority/reports.md). Keeps only ranges and rows of amounts in memory.
 */
import Big from 'big.js';
import type { Totals } from '../receipts/cfeDocument.ts';
import { CFE_TYPE_NAMES, type CfeType, cfeTypeRow } from '../receipts/cfeTypes.ts';
import type { WantedRate } from '../receipts/exchangeRate.ts';
import { identificationLimit, selectUiValue, type UiValueRow } from '../receipts/uiValues.ts';
import { amountText, roundHalfUp } from '../values/decimal.ts';
import { createRanges, type Ranges, type SerieRange } from './ranges.ts';
import { rateSource, wantedRate } from './rate.ts';

/** The reported facts of a receipt that the authority has and did not reject. */
export interface IssuedReceipt {
  readonly type: CfeType;
  readonly serie: string;
  readonly numero: number;
  /** `YYYY-MM-DD` */
  readonly emissionDate: string;
  /** CdgDGISucur. */
  readonly branch: number;
  /** IndPagCta3ros. */
  readonly thirdPartyPayment?: boolean;
  readonly totals: Totals;
}

/** Numbers that never became a receipt. */
interface AnnulledNumbers extends SerieRange {
  readonly type: CfeType;
}

/** Sums of one emission date and branch, payments for third parties apart, in pesos: decimal texts with 2 decimals, not negative. */
export interface AmountRow extends Readonly<Record<Component, string>> {
  readonly emissionDate: string;
  readonly branch: number;
  /** IndPagCta3ros; omitted in rows of other receipts. */
  readonly thirdPartyPayment?: true;
  /** The sum of the rounded components. */
  readonly total: string;
}

/** The report of one type. */
export interface TypeSummary {
  readonly type: CfeType;
  /** Issued and annulled together. */
  readonly used: number;
  readonly annulled: number;
  readonly issued: number;
  /** e-Tickets and their notes issued above 5,000 UI net; null for the other types, whose summary has no such count. */
  readonly aboveUiLimit: number | null;
  /** Used numbers, annulled ones included; by serie and number. */
  readonly usedRanges: readonly SerieRange[];
  readonly annulledRanges: readonly SerieRange[];
  /** By date and branch, payments for third parties last; empty if nothing was issued. */
  readonly rows: readonly AmountRow[];
}

/** Plain data in a fixed order, so that its JSON can be compared. */
export interface ReportSummary {
  /** CantComprobantes: numbers used, of all types. */
  readonly used: number;
  /** Types with a number used that day, by code. */
  readonly types: readonly TypeSummary[];
}

/** How amounts in other currencies are converted to pesos. */
interface Conversion {
  /** Date of the report's signature in Montevideo (TmstFirmaEnv). */
  readonly signedOn: string;
  /**
   * Returns the pesos for one unit as decimal text; null for a currency without quotation, where the receipts' own rates
   * apply. Called for the rates of `wantedRates`.
   */
  readonly rateOf: (wanted: WantedRate) => string | null;
}

export interface DaySums {
  /** Throws DuplicateNumber for a number that was added before; if not here, `close` throws it. */
  addIssued(receipt: IssuedReceipt): void;
  addAnnulled(numbers: AnnulledNumbers): void;
  /** Returns the quotations that `close` needs, each once, by currency and day. */
  wantedRates(signedOn: string): WantedRate[];
  /** Returns the report's content. May be called again with other rates. Throws ReportTooLarge and DuplicateNumber. */
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

/** Sums in another currency that are converted by the central bank's rate. */
interface Foreign {
  readonly inCurrency: Amounts;
  /** The same in pesos by the receipts' own rates, which apply if the bank has no rate. */
  readonly byOwnRate: Amounts;
}

interface Row {
  readonly emissionDate: string;
  readonly branch: number;
  readonly isThirdParty: boolean;
  readonly pesos: Amounts;
  readonly foreign: Map<string, Foreign>;
}

interface TypeSums {
  readonly used: Ranges;
  readonly annulled: Ranges;
  readonly rows: Map<string, Row>;
  aboveUiLimit: number;
}

/** Creates the sums of an empty day. `uiValues`: the known values of the UI, at least one. */
export function createDaySums(uiValues: readonly UiValueRow[]): DaySums {
  const types = new Map<CfeType, TypeSums>();
  const limits = new Map<string, Big>();
  const limitOn = (emissionDate: string): Big => {
    const year = emissionDate.slice(0, 4);
    const known = limits.get(year) ?? identificationLimit(selectUiValue(uiValues, Number(year)));
    limits.set(year, known);
    return known;
  };
  const findOrAddType = (type: CfeType): TypeSums => {
    const existing = types.get(type);
    if (existing) return existing;
    const sums = {
      used: createRanges(typeName(type)),
      annulled: createRanges(typeName(type)),
      rows: new Map<string, Row>(),
      aboveUiLimit: 0,
    };
    types.set(type, sums);
    return sums;
  };
  return {
    addIssued(receipt) {
      const { type, serie, numero, emissionDate, totals } = receipt;
      const sums = findOrAddType(type);
      sums.used.add({ serie, from: numero, to: numero });
      const amounts = amountsInXml(type, totals);
      addToRow(findOrAddRow(sums.rows, receipt), receipt, amounts);
      if (cfeTypeRow(type).family !== 'ticket') return;
      if (netOf(amounts).times(totals.exchangeRate).gt(limitOn(emissionDate))) sums.aboveUiLimit += 1;
    },
    addAnnulled({ type, ...range }) {
      const sums = findOrAddType(type);
      sums.used.add(range);
      sums.annulled.add(range);
    },
    wantedRates(signedOn) {
      const wanted = [...types.values()]
        .flatMap(({ rows }) => [...rows.values()])
        .flatMap(({ foreign, emissionDate }) =>
          [...foreign.keys()].flatMap((currency) => wantedRate(currency, emissionDate, signedOn) ?? []),
        );
      const byKey = new Map(wanted.map((rate) => [`${rate.currency} ${rate.date}`, rate]));
      return [...byKey].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, rate]) => rate);
    },
    close(conversion) {
      const summaries = CFE_TYPE_NAMES.flatMap((type) => {
        const sums = types.get(type);
        return sums ? [closeType(type, sums, conversion)] : [];
      });
      return { used: summaries.reduce((sum, { used }) => sum + used, 0), types: summaries };
    },
  };
}

function findOrAddRow(rows: Map<string, Row>, receipt: IssuedReceipt): Row {
  const { emissionDate, branch, thirdPartyPayment: isThirdParty = false } = receipt;
  const key = `${emissionDate} ${branch} ${isThirdParty}`;
  const existing = rows.get(key);
  if (existing) return existing;
  const foreign = new Map<string, Foreign>();
  const row = { emissionDate, branch, isThirdParty, pesos: noAmounts(), foreign };
  rows.set(key, row);
  return row;
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

function closeType(type: CfeType, sums: TypeSums, conversion: Conversion): TypeSummary {
  const usedRanges = sums.used.merged();
  const annulledRanges = sums.annulled.merged();
  const used = countOf(usedRanges);
  const annulled = countOf(annulledRanges);
  const { family } = cfeTypeRow(type);
  const name = typeName(type);
  requireAtMost(MOST_RANGES, usedRanges.length, `ranges of used numbers of ${name}`);
  requireAtMost(MOST_ROWS, sums.rows.size, `days of emission and branches of ${name}`);
  const rows = [...sums.rows.values()]
    .toSorted((a, b) =>
      a.emissionDate === b.emissionDate
        ? a.branch - b.branch || Number(a.isThirdParty) - Number(b.isThirdParty)
        : a.emissionDate < b.emissionDate
          ? -1
          : 1,
    )
    .map((row) => closeRow(row, conversion, name));
  return {
    type,
    used,
    annulled,
    issued: used - annulled,
    aboveUiLimit: family === 'ticket' ? sums.aboveUiLimit : null,
    usedRanges,
    annulledRanges,
    rows,
  };
}

const typeName = (type: CfeType): string => `${cfeTypeRow(type).label} (${cfeTypeRow(type).code})`;

const countOf = (ranges: readonly SerieRange[]): number =>
  ranges.reduce((count, { from, to }) => count + to - from + 1, 0);

function requireAtMost(most: number, count: number, items: string): void {
  if (count <= most) return;
  throw new ReportTooLarge(
    `The day has ${count} ${items}; a report can have ${most}, and a day has one report. Nothing was sent: this day must be settled with the authority.`,
  );
}

/** Rounds each component once; the total is the sum of the rounded components (docs/authority/reports.md#rounding). */
function closeRow(
  { emissionDate, branch, isThirdParty, pesos, foreign }: Row,
  conversion: Conversion,
  name: string,
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
      `The amounts of ${name}, emitted on ${emissionDate} by branch ${branch}, have more than 15 digits, too many for a report. Nothing was sent: this day must be settled with the authority.`,
    );
  }
  const texts = Object.fromEntries(rounded.map(([component, amount]) => [component, amountText(amount)]));
  return {
    emissionDate,
    branch,
    ...(isThirdParty ? { thirdPartyPayment: true } : {}),
    ...(texts as Record<Component, string>),
    total: amountText(total),
  };
}

/** The amounts of a receipt that the report sums, by the names that `Totals` gives them. */
export const COMPONENTS = [
  'exempt',
  'exported',
  'perceived',
  'suspended',
  'minimumNet',
  'basicNet',
  'otherNet',
  'minimumVat',
  'basicVat',
  'otherVat',
] as const;
/** The components that are VAT. */
const VAT: readonly Component[] = ['minimumVat', 'basicVat', 'otherVat'];
type Component = (typeof COMPONENTS)[number];
type Amounts = Record<Component, Big>;

const ZERO = Big(0);
const noAmounts = (): Amounts =>
  Object.fromEntries(COMPONENTS.map((component) => [component, ZERO])) as Amounts;

const ZERO_TEXT = /^-?[0.]+$/;

/**
 * Returns the amounts in the signed XML of a receipt, in its currency, without zeros: the authority can compare nothing
 * else. Export documents have only exported amounts, and VAT appears only with its base (docs/authority/receipts.md#totals).
 */
function amountsInXml(type: CfeType, totals: Totals): [Component, Big][] {
  const components = cfeTypeRow(type).family === 'export' ? (['exported'] as const) : COMPONENTS;
  return components.flatMap((component): [Component, Big][] => {
    if (ZERO_TEXT.test(totals[component])) return [];
    if (component === 'minimumVat' && ZERO_TEXT.test(totals.minimumNet)) return [];
    if (component === 'basicVat' && ZERO_TEXT.test(totals.basicNet)) return [];
    return [[component, Big(totals[component])]];
  });
}

/** Adds each amount times `rate` to `sums` in place, without rounding. */
function addTo(sums: Amounts, amounts: Iterable<readonly [Component, Big]>, rate?: Big): void {
  for (const [component, amount] of amounts)
    sums[component] = sums[component].plus(rate ? amount.times(rate) : amount);
}

/** Sums the amounts without VAT (Formato CFE v25.2, zone A, fields 112 to 118). */
function netOf(amounts: Iterable<readonly [Component, Big]>): Big {
  let net = ZERO;
  for (const [component, amount] of amounts) if (!VAT.includes(component)) net = net.plus(amount);
  return net;
}
