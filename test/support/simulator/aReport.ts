import Big from 'big.js';
import { ISSUER_RUT, montevideo } from './aCfe.ts';

/** Numbers of one serie: from, to, and the serie where it is not A. */
export type Numbers = readonly [from: number, to: number, serie?: string];

/** A row of amounts; what is left out is 0. The total is the sum unless it is given. */
export interface RowOrder {
  readonly date: string;
  readonly branch?: number;
  readonly noVat?: string;
  readonly exported?: string;
  readonly minimumBase?: string;
  readonly basicBase?: string;
  readonly minimumVat?: string;
  readonly basicVat?: string;
  readonly total?: string;
}

/** What a report says of one type; counts follow from the numbers unless they are given. */
export interface SectionOrder {
  readonly type: number;
  readonly rows?: readonly RowOrder[];
  readonly used?: readonly Numbers[];
  readonly annulled?: readonly Numbers[];
  readonly usedCount?: number;
  readonly annulledCount?: number;
  readonly issuedCount?: number;
  readonly aboveLimit?: number;
}

/** A daily report as a test wants it; everything else is right by itself. */
export interface ReportOrder {
  readonly rut?: string;
  /** The day that is reported. */
  readonly date: string;
  readonly sequence?: number;
  readonly idEmisor?: number;
  readonly signedAt?: string;
  readonly count?: number;
  readonly sections?: readonly SectionOrder[];
  /** Changes the finished text before it is signed. */
  readonly edit?: (xml: string) => string;
}

const ELEMENTS: Readonly<Record<number, string>> = {
  101: 'Rsmn_Tck',
  102: 'Rsmn_Tck_Nota_Credito',
  103: 'Rsmn_Tck_Nota_Debito',
  111: 'Rsmn_Fac',
  112: 'Rsmn_Fac_Nota_Credito',
  113: 'Rsmn_Fac_Nota_Debito',
  121: 'Rsmn_Fac_Exp',
  122: 'Rsmn_Fac_Exp_Nota_Credito',
  123: 'Rsmn_Fac_Exp_Nota_Debito',
};

const leaf = (name: string, value: string | number | undefined): string =>
  value === undefined ? '' : `<${name}>${value}</${name}>`;
const size = (numbers: readonly Numbers[]): number =>
  numbers.reduce((sum, [from, to]) => sum + to - from + 1, 0);
const sum = (...amounts: (string | undefined)[]): string =>
  amounts.reduce((total, one) => total.plus(one ?? '0'), new Big(0)).toFixed(2);

/** The text of an unsigned daily report, canonical as it stands; written for tests, apart from the service's own. */
export function aReport(order: ReportOrder): string {
  const sections = order.sections ?? [];
  const count = sections.reduce((total, one) => total + (one.usedCount ?? size(one.used ?? [])), 0);
  const xml = [
    '<Reporte xmlns="http://cfe.dgi.gub.uy"><Caratula version="1.0">',
    leaf('RUCEmisor', order.rut ?? ISSUER_RUT),
    leaf('FechaResumen', order.date),
    leaf('IDEmisor', order.idEmisor),
    leaf('SecEnvio', order.sequence ?? 1),
    leaf('TmstFirmaEnv', order.signedAt ?? montevideo(new Date())),
    leaf('CantComprobantes', order.count ?? count),
    '</Caratula>',
    ...sections.map(sectionXml),
    '</Reporte>',
  ].join('');
  return order.edit ? order.edit(xml) : xml;
}

function sectionXml(section: SectionOrder): string {
  const { type, used = [], annulled = [], rows = [] } = section;
  const usedCount = section.usedCount ?? size(used);
  const annulledCount = section.annulledCount ?? size(annulled);
  const data = [
    rows.length === 0
      ? ''
      : leaf('Montos', rows.map((row) => (type > 120 ? exportRow(row) : usualRow(row))).join('')),
    leaf('CantDocsUtil', usedCount),
    type < 110 ? leaf('CantDocsMay_topeUI', section.aboveLimit ?? 0) : '',
    leaf('CantDocsAnulados', annulledCount),
    leaf('CantDocsEmi', section.issuedCount ?? usedCount - annulledCount),
    used.length === 0 ? '' : leaf('RngDocsUtil', used.map((one) => range('RDU_Item', one)).join('')),
    annulled.length === 0
      ? ''
      : leaf('RngDocsAnulados', annulled.map((one) => range('RDA_Item', one)).join('')),
  ].join('');
  return leaf(ELEMENTS[type] ?? '', leaf('TipoComp', type) + leaf('RsmnData', data));
}

const range = (name: string, [from, to, serie = 'A']: Numbers): string =>
  leaf(name, leaf('Serie', serie) + leaf('NroDesde', from) + leaf('NroHasta', to));

function usualRow(row: RowOrder): string {
  const parts = [
    ['TotMntNoGrv', row.noVat],
    ['TotMntExpyAsim', row.exported],
    ['TotMntImpPerc', undefined],
    ['TotMntIVAenSusp', undefined],
    ['TotMntIVATasaMin', row.minimumBase],
    ['TotMntIVATasaBas', row.basicBase],
    ['TotMntIVAOtra', undefined],
    ['MntIVATasaMin', row.minimumVat],
    ['MntIVATasaBas', row.basicVat],
    ['MntIVAOtra', undefined],
  ] as const;
  const amounts = parts.map(([name, amount]) => leaf(name, amount ?? '0.00')).join('');
  const rates = leaf('IVATasaMin', '10.000') + leaf('IVATasaBas', '22.000');
  const total = row.total ?? sum(...parts.map(([, amount]) => amount));
  return leaf(
    'Mnts_FyT_Item',
    leaf('Fecha', row.date) +
      leaf('CodSuc', row.branch ?? 1) +
      amounts +
      rates +
      leaf('TotMntTotal', total) +
      leaf('TotMntRetenido', '0.00'),
  );
}

const exportRow = (row: RowOrder): string =>
  leaf(
    'Mnts_FExp_Item',
    leaf('Fecha', row.date) +
      leaf('CodSuc', row.branch ?? 1) +
      leaf('TotMntExpyAsim', row.exported ?? '0.00') +
      leaf('TotMntTotal', row.total ?? row.exported ?? '0.00'),
  );

/** The row of so many receipts as `aCfe` writes them, in pesos. */
export function usualAmounts(receipts: number, date: string): RowOrder {
  const times = (amount: string): string => new Big(amount).times(receipts).toFixed(2);
  return {
    date,
    noVat: times('120.00'),
    minimumBase: times('300.00'),
    basicBase: times('1000.00'),
    minimumVat: times('30.00'),
    basicVat: times('220.00'),
  };
}
