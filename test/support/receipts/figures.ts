import type { CfeType } from '../../../src/domain/receipts/cfeTypes.ts';
import {
  adjustmentCents,
  decimalText,
  halfUpRatio,
  lineCents,
  measured,
  recompute,
  units,
} from './arithmetic.ts';
import { get, type Json, type JsonObject } from './exactJson.ts';

/** Texts of elements by name; what is not there is left out. */
type Elements = Record<string, string>;

/** What a receipt says that can be reckoned from its request: figures and the texts of its lines. */
export interface Figures {
  /** MntBruto and the totals. */
  totals: Elements;
  lines: Elements[];
  /** Zone F, row by row; of the rows of a note's original only the amounts. */
  references: Elements[];
  /** ValorDR of the adjustments, signed. */
  adjustments: string[];
  /** ValorPago of the payments. */
  payments: string[];
}

/** What the tests know of codes by themselves, from the format (docs/authority/codes.md). */
const IND_FACT: Record<string, string> = {
  EXEMPT: '1',
  MINIMUM_RATE: '2',
  BASIC_RATE: '3',
  OTHER_RATE: '4',
  FREE: '5',
  NON_BILLABLE: '6',
  NON_BILLABLE_NEGATIVE: '7',
  EXPORT: '10',
  PERCEIVED: '11',
  SUSPENDED: '12',
};

const TOTALS = [
  'MntBruto',
  'IndPagCta3ros',
  'IndCobPropia',
  'TpoMoneda',
  'TpoCambio',
  'MntNoGrv',
  'MntExpoyAsim',
  'MntImpuestoPerc',
  'MntIVaenSusp',
  'MntNetoIvaTasaMin',
  'MntNetoIVATasaBasica',
  'MntNetoIVAOtra',
  'IVATasaMin',
  'IVATasaBasica',
  'MntIVATasaMin',
  'MntIVATasaBasica',
  'MntIVAOtra',
  'MntTotal',
  'CantLinDet',
  'MontoNF',
  'MntPagar',
];
const LINE = [
  'NroLinDet',
  'IndFact',
  'NomItem',
  'DscItem',
  'Cantidad',
  'UniMed',
  'PrecioUnitario',
  'DescuentoMonto',
  'RecargoMnt',
  'MontoItem',
];
const REFERENCE = [
  'IndGlobal',
  'TpoDocRef',
  'Serie',
  'NroCFERef',
  'RazonRef',
  'FechaCFEref',
  'MntCFEref',
  'TpoMonedaRef',
  'TpoCambioRef',
];
/** What the request of a note says nothing of. */
const OF_THE_ORIGINAL = ['TpoDocRef', 'Serie', 'NroCFERef', 'RazonRef', 'FechaCFEref'];

/** The figures as they stand in a CFE. */
export function figuresIn(xml: string, original?: JsonObject): Figures {
  const [, lines = ''] = /<Detalle>(.*)<\/Detalle>/s.exec(xml) ?? [];
  const [, references = ''] = /<Referencia><Referencia>(.*)<\/Referencia><\/Referencia>/s.exec(xml) ?? [];
  return {
    totals: elements(xml, TOTALS),
    lines: lines
      .split('</Item>')
      .slice(0, -1)
      .map((line) => elements(line, LINE)),
    references: references
      .split('</Referencia><Referencia>')
      .filter((row) => row !== '')
      .map((row, at) =>
        elements(
          row,
          REFERENCE.filter((name) => !original || at > 0 || !OF_THE_ORIGINAL.includes(name)),
        ),
      ),
    adjustments: [...xml.matchAll(/<TpoMovDR>(.)<.*?<ValorDR>([^<]*)</gs)].map(
      ([, sign, value]) => `${sign === 'D' ? '-' : ''}${value}`,
    ),
    payments: [...xml.matchAll(/<ValorPago>([^<]*)</g)].map(([, value = '']) => value),
  };
}

/** The figures that must stand in the CFE of a request, reckoned anew in whole numbers from its lines. */
export function figuresOf(body: JsonObject, original?: JsonObject): Figures {
  const sums = recompute(body);
  const money = (cents: bigint) => decimalText(cents, 2);
  const unlessNothing = (cents: bigint) => (cents === 0n ? undefined : money(cents));
  const abroad = (body['cfe_type'] as CfeType).startsWith('EFACTURA_EXPORT');
  const { currency, rate } = moneyOf(body);
  const minimum = sums.minimumNet > 0n;
  const basic = sums.basicNet > 0n;
  const lines = get(body, '/details') as JsonObject[];
  const header = body['header'] as JsonObject;
  const flag = (name: string) => ((header['doc_id'] as JsonObject)[name] === true ? '1' : undefined);
  const collects = flag('own_collection') !== undefined;
  return {
    totals: withoutUndefined({
      MntBruto: sums.gross ? '1' : undefined,
      TpoMoneda: currency,
      TpoCambio: currency === 'UYU' ? undefined : decimalText(rate, 3),
      MntNoGrv: unlessNothing(sums.exempt),
      MntExpoyAsim: abroad ? money(sums.exported) : unlessNothing(sums.exported),
      MntImpuestoPerc: unlessNothing(sums.perceived),
      MntIVaenSusp: unlessNothing(sums.suspended),
      MntNetoIVAOtra: unlessNothing(sums.otherNet),
      MntIVAOtra: unlessNothing(sums.otherVat),
      MntNetoIvaTasaMin: minimum ? money(sums.minimumNet) : undefined,
      MntNetoIVATasaBasica: basic ? money(sums.basicNet) : undefined,
      IVATasaMin: minimum ? '10.000' : undefined,
      IVATasaBasica: basic ? '22.000' : undefined,
      MntIVATasaMin: minimum ? money(sums.minimumVat) : undefined,
      MntIVATasaBasica: basic ? money(sums.basicVat) : undefined,
      MntTotal: money(sums.total),
      CantLinDet: String(lines.length),
      MontoNF: collects ? money(sums.nonBillable) : unlessNothing(sums.nonBillable),
      IndPagCta3ros: flag('third_party_payment'),
      IndCobPropia: flag('own_collection'),
      MntPagar: money(sums.pay),
    }),
    lines: lines.map((line, index) => lineOf(line, index, unitOf(body))),
    references: referencesOf(body, original),
    adjustments: rowsOf(header, 'adjustments').map(
      ({ kind }, at) => `${kind === 'DISCOUNT' ? '-' : ''}${money(adjustmentCents(body)[at] ?? 0n)}`,
    ),
    payments: rowsOf(header, 'payments').map(({ amount }) => money(units(amount as Json, 2))),
  };
}

const rowsOf = (of: JsonObject, name: string): JsonObject[] => (of[name] as JsonObject[] | undefined) ?? [];

/** The unit of the lines that have none of their own. */
function unitOf({ extra }: JsonObject): string {
  const unit = typeof extra === 'string' ? (JSON.parse(extra) as { unit?: string }).unit : undefined;
  return unit ?? 'N/A';
}

function lineOf(line: JsonObject, index: number, unit: string): Elements {
  const count = units(get(line, '/count'), 3);
  const price = units(get(line, '/unit_price'), 6);
  const adjusted = (name: string): string | undefined => {
    const amounts = rowsOf(line, name).map((one) => measured(one, count * price));
    return amounts.length === 0
      ? undefined
      : decimalText(
          amounts.reduce((all, one) => all + one, 0n),
          2,
        );
  };
  return withoutUndefined({
    NroLinDet: String(index + 1),
    IndFact: IND_FACT[line['iva_type'] as string],
    NomItem: line['item_name'] as string,
    DscItem: line['item_description'] as string | undefined,
    Cantidad: decimalText(count, 3),
    UniMed: (line['unit'] as string | undefined) ?? unit,
    DescuentoMonto: adjusted('discounts'),
    RecargoMnt: adjusted('surcharges'),
    PrecioUnitario: decimalText(price, 6),
    MontoItem: decimalText(lineCents(line), 2),
  });
}

/**
 * MntCFEref is the note's amount in the currency of its original, from 0 to what that was worth (Formato CFE v25.2,
 * zone F, field 8).
 */
function referencesOf(body: JsonObject, original: JsonObject | undefined): Elements[] {
  const rows = rowsOf(body, 'references');
  if (!original) return rows.map(unknownOf);
  const [first, ...others] = rows;
  return [originalOf(body, original, first?.['amount']), ...others.map(unknownOf)];
}

/** A row that names nothing of this service, as it was asked for. */
function unknownOf(row: JsonObject): Elements {
  const text = (name: string): string | undefined => row[name] as string | undefined;
  const number = (name: string, places: number): string | undefined =>
    row[name] === undefined ? undefined : decimalText(units(row[name], places), places);
  return withoutUndefined({
    IndGlobal: row['description'] === undefined ? undefined : '1',
    TpoDocRef: text('cfe_type_code'),
    Serie: text('serie'),
    NroCFERef: number('numero', 0),
    RazonRef: text('description') ?? text('reason'),
    FechaCFEref: text('emission_date'),
    MntCFEref: number('amount', 2),
    TpoMonedaRef: text('currency'),
    TpoCambioRef: number('exchange_rate', 3),
  });
}

/** The row of a note's original: `stated`, or what the note comes to. */
function originalOf(note: JsonObject, original: JsonObject, stated: Json | undefined): Elements {
  const [mine, its] = [moneyOf(note), moneyOf(original)];
  const pay = recompute(note).pay;
  const most = recompute(original).pay;
  if (stated !== undefined) return amountsOf(units(stated, 2), its);
  const amount = mine.currency === its.currency || pay < 0n ? pay : halfUpRatio(pay * mine.rate, its.rate);
  return amountsOf(amount < most ? amount : most, its);
}

function amountsOf(cents: bigint, its: ReturnType<typeof moneyOf>): Elements {
  return withoutUndefined({
    MntCFEref: decimalText(cents < 0n ? 0n : cents, 2),
    TpoMonedaRef: its.currency,
    TpoCambioRef: its.currency === 'UYU' ? undefined : decimalText(its.rate, 3),
  });
}

function moneyOf(body: JsonObject): { currency: string; rate: bigint } {
  return {
    currency: get(body, '/header/totals/currency') as string,
    rate: units(get(body, '/header/totals/exchange_rate'), 3),
  };
}

function elements(xml: string, names: readonly string[]): Elements {
  return withoutUndefined(
    Object.fromEntries(names.map((name) => [name, textOf(new RegExp(`<${name}>([^<]*)<`).exec(xml)?.[1])])),
  );
}

const textOf = (escaped: string | undefined): string | undefined =>
  escaped?.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');

function withoutUndefined(values: Record<string, string | undefined>): Elements {
  return Object.fromEntries(
    Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
