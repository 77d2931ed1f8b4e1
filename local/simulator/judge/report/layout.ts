import { CFE_NS } from '../../xml/names.ts';
import type { XmlTree } from '../../xml/read.ts';
import type { Place } from '../format/layout.ts';
import { faultsOfStructure } from '../format/structure.ts';
import {
  amount,
  day,
  FIRST_DAY,
  like,
  moment,
  oneOf,
  ruc,
  serie,
  signedAmount,
  vatRate,
  whole,
} from '../format/values.ts';

const must = (name: string, holds: Place['holds']): Place => ({ name, min: 1, max: 1, holds });
const may = (name: string, holds: Place['holds'], max = 1): Place => ({ name, min: 0, max, holds });

/** The summary elements of the nine types, in the order in which they stand (Formato Reporte v13.2, zone B). */
export const SECTIONS = [
  { element: 'Rsmn_Tck', type: '101' },
  { element: 'Rsmn_Tck_Nota_Credito', type: '102' },
  { element: 'Rsmn_Tck_Nota_Debito', type: '103' },
  { element: 'Rsmn_Fac', type: '111' },
  { element: 'Rsmn_Fac_Nota_Credito', type: '112' },
  { element: 'Rsmn_Fac_Nota_Debito', type: '113' },
  { element: 'Rsmn_Fac_Exp', type: '121' },
  { element: 'Rsmn_Fac_Exp_Nota_Credito', type: '122' },
  { element: 'Rsmn_Fac_Exp_Nota_Debito', type: '123' },
] as const;

/**
 * Amounts of a row by the field of the receipts whose sum they are (Formato Reporte v13.2, C12 to C21): those that make up
 * TotMntTotal.
 */
export const PARTS = [
  { element: 'TotMntNoGrv', of: 'MntNoGrv' },
  { element: 'TotMntExpyAsim', of: 'MntExpoyAsim' },
  { element: 'TotMntImpPerc', of: 'MntImpuestoPerc' },
  { element: 'TotMntIVAenSusp', of: 'MntIVaenSusp' },
  { element: 'TotMntIVATasaMin', of: 'MntNetoIvaTasaMin' },
  { element: 'TotMntIVATasaBas', of: 'MntNetoIVATasaBasica' },
  { element: 'TotMntIVAOtra', of: 'MntNetoIVAOtra' },
  { element: 'MntIVATasaMin', of: 'MntIVATasaMin' },
  { element: 'MntIVATasaBas', of: 'MntIVATasaBasica' },
  { element: 'MntIVAOtra', of: 'MntIVAOtra' },
] as const;
/** The same of what stands beside the total (C25, C25.1). */
export const BESIDE_THE_TOTAL = [
  { element: 'TotMntRetenido', of: 'MntTotRetenido' },
  { element: 'TotMntCredFisc', of: 'MntTotCredFisc' },
] as const;

export const isTicket = (type: string): boolean => type < '110';
const isExport = (type: string): boolean => type > '120';

const MOST_ROWS = { usual: 2000, export: 1000 };
const MOST_RANGES = 10_000;
const COUNT = whole(0, 9_999_999_999);

const rowHead: readonly Place[] = [
  must('Fecha', day(FIRST_DAY)),
  must('CodSuc', whole(0, 9999)),
  may('IndPagCta3ros', oneOf(1)),
];
const rowOf = (type: string): Place =>
  isExport(type)
    ? {
        name: 'Mnts_FExp_Item',
        min: 1,
        max: MOST_ROWS.export,
        holds: [...rowHead, may('TotMntExpyAsim', amount), must('TotMntTotal', amount)],
      }
    : {
        name: 'Mnts_FyT_Item',
        min: 1,
        max: MOST_ROWS.usual,
        holds: [
          ...rowHead,
          ...PARTS.map(({ element }) => may(element, amount)),
          may('IVATasaMin', vatRate),
          may('IVATasaBas', vatRate),
          must('TotMntTotal', amount),
          ...BESIDE_THE_TOTAL.map(({ element }) => may(element, signedAmount)),
        ],
      };

const NUMBER = whole(1, 9_999_999);
const RANGE: readonly Place[] = [must('Serie', serie), must('NroDesde', NUMBER), must('NroHasta', NUMBER)];

const section = ({ element, type }: (typeof SECTIONS)[number]): Place =>
  may(element, [
    must('TipoComp', oneOf(type)),
    must('RsmnData', [
      may('Montos', [rowOf(type)]),
      must('CantDocsUtil', COUNT),
      ...(isTicket(type) ? [may('CantDocsMay_topeUI', COUNT)] : []),
      may('CantDocsAnulados', COUNT),
      may('CantDocsEmi', COUNT),
      may('RngDocsUtil', [may('RDU_Item', RANGE, MOST_RANGES)]),
      may('RngDocsAnulados', [may('RDA_Item', RANGE, MOST_RANGES)]),
    ]),
  ]);

const CARATULA: readonly Place[] = [
  must('RUCEmisor', ruc),
  must('FechaResumen', day(FIRST_DAY)),
  may('IDEmisor', like(/^\d{1,10}$/, 'un entero de hasta 10 dígitos')),
  must('SecEnvio', whole(0, 99)),
  must('TmstFirmaEnv', moment),
  must('CantComprobantes', COUNT),
];

const LAYOUT: readonly Place[] = [must('Caratula', CARATULA), ...SECTIONS.map(section)];

/** Where a report departs from its format, its Signature aside: order, occurrence, names, values (in Spanish). */
export function faultsOfForm(root: XmlTree): string[] {
  if (root.name !== 'Reporte' || root.namespace !== CFE_NS) return ['no es un Reporte'];
  const last = root.children.at(-1);
  if (last?.name !== 'Signature') return ['Reporte/Signature: falta'];
  const caratula = root.children[0];
  const version = caratula?.attributes['version'] === '1.0' ? [] : ['Caratula: version debe ser 1.0'];
  return [...version, ...faultsOfStructure({ ...root, children: root.children.slice(0, -1) }, LAYOUT)];
}
