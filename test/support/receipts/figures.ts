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
  /** What a note takes from its original. */
  reference: Elements | undefined;
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
const REFERENCE = ['MntCFEref', 'TpoMonedaRef', 'TpoCambioRef'];

/** The figures as they stand in a CFE. */
export function figuresIn(xml: string): Figures {
  const [, lines = ''] = /<Detalle>(.*)<\/Detalle>/s.exec(xml) ?? [];
  const [, reference] = /<Referencia>(.*)<\/Referencia>/s.exec(xml) ?? [];
  return {
    totals: elements(xml, TOTALS),
    lines: lines
      .split('</Item>')
      .slice(0, -1)
      .map((line) => elements(line, LINE)),
    reference: reference === undefined ? undefined : elements(reference, REFERENCE),
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
      MontoNF: unlessNothing(sums.nonBillable),
      MntPagar: money(sums.pay),
    }),
    lines: lines.map((line, index) => lineOf(line, index, unitOf(body))),
    reference: original && referenceOf(body, original),
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
function referenceOf(note: JsonObject, original: JsonObject): Elements {
  const [mine, its] = [moneyOf(note), moneyOf(original)];
  const pay = recompute(note).pay;
  const most = recompute(original).pay;
  const amount = mine.currency === its.currency || pay < 0n ? pay : halfUpRatio(pay * mine.rate, its.rate);
  const taken = amount < most ? amount : most;
  return withoutUndefined({
    MntCFEref: decimalText(taken < 0n ? 0n : taken, 2),
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
