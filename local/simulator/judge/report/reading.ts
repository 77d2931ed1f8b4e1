import type Big from 'big.js';
import { dayInMontevideo, momentOf } from '../../clock.ts';
import { childOf, type XmlTree } from '../../xml/read.ts';
import { Zone } from '../reading.ts';
import { SECTIONS } from './layout.ts';

/** Numbers of one serie, both ends included. */
export interface Range {
  readonly serie: string;
  readonly from: number;
  readonly to: number;
}

/** A row of amounts: of one day of issue, branch and kind of sale. */
export interface AmountRow {
  /** Day, branch and third-party mark in one text, under which no other row may stand. */
  readonly key: string;
  readonly date: string;
  readonly amount: (element: string) => Big;
  readonly has: (element: string) => boolean;
}

/** What a report says of one type of CFE. */
export interface Section {
  readonly type: string;
  readonly rows: readonly AmountRow[];
  readonly used: number;
  /** e-Tickets above the threshold in UI; null where nothing is said. */
  readonly aboveLimit: number | null;
  readonly annulled: number;
  readonly issued: number;
  readonly usedRanges: readonly Range[];
  readonly annulledRanges: readonly Range[];
}

/** A report whose form is right, parsed for the rules. */
export interface ParsedReport {
  readonly rut: string;
  /** The day that is reported, `YYYY-MM-DD`. */
  readonly date: string;
  /** 0 where it names none. */
  readonly idEmisor: number;
  readonly sequence: number;
  readonly signedAt: Date;
  /** The day of signing in Montevideo. */
  readonly signedOn: string;
  readonly count: number;
  readonly sections: readonly Section[];
}

/** The row's key from what makes it unique. */
export const rowKey = (date: string, branch: string, thirdParty: string | undefined): string =>
  `${date} sucursal ${Number(branch)}${thirdParty === undefined ? '' : ' cuenta de terceros'}`;

/** The report in a tree whose form is right. */
export function readReport(root: XmlTree): ParsedReport {
  const caratula = new Zone(childOf(root, 'Caratula'));
  const text = (name: string): string => caratula.text(name) ?? '';
  const signedAt = momentOf(text('TmstFirmaEnv')) ?? new Date(0);
  return {
    rut: text('RUCEmisor'),
    date: text('FechaResumen'),
    idEmisor: Number(caratula.text('IDEmisor') ?? 0),
    sequence: Number(text('SecEnvio')),
    signedAt,
    signedOn: dayInMontevideo(signedAt),
    count: Number(text('CantComprobantes')),
    sections: SECTIONS.flatMap(({ element, type }) => {
      const tree = childOf(root, element);
      return tree ? [readSection(type, new Zone(childOf(tree, 'RsmnData')))] : [];
    }),
  };
}

function readSection(type: string, data: Zone): Section {
  const count = (name: string): number => Number(data.text(name) ?? 0);
  const rows = new Zone(childOf(data.tree, 'Montos'));
  return {
    type,
    rows: [...rows.all('Mnts_FyT_Item'), ...rows.all('Mnts_FExp_Item')].map(readRow),
    used: count('CantDocsUtil'),
    aboveLimit: data.has('CantDocsMay_topeUI') ? count('CantDocsMay_topeUI') : null,
    annulled: count('CantDocsAnulados'),
    issued: count('CantDocsEmi'),
    usedRanges: readRanges(data, 'RngDocsUtil', 'RDU_Item'),
    annulledRanges: readRanges(data, 'RngDocsAnulados', 'RDA_Item'),
  };
}

const readRow = (row: Zone): AmountRow => ({
  key: rowKey(row.text('Fecha') ?? '', row.text('CodSuc') ?? '', row.text('IndPagCta3ros')),
  date: row.text('Fecha') ?? '',
  amount: (element) => row.amount(element),
  has: (element) => row.has(element),
});

const readRanges = (data: Zone, list: string, item: string): Range[] =>
  new Zone(childOf(data.tree, list)).all(item).map((range) => ({
    serie: range.text('Serie') ?? '',
    from: Number(range.text('NroDesde')),
    to: Number(range.text('NroHasta')),
  }));
