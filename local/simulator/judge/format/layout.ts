import {
  amount,
  country,
  currency,
  day,
  exchangeRate,
  FIRST_DAY,
  like,
  moment,
  oneOf,
  percent,
  price,
  quantity,
  ruc,
  serie,
  signedAmount,
  text,
  type ValueCheck,
  vatRate,
  whole,
} from './values.ts';

/** A place in the format: an element, how often it may occur there, and what it holds. */
export interface Place {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly holds: ValueCheck | readonly Place[];
}

const must = (name: string, holds: Place['holds']): Place => ({ name, min: 1, max: 1, holds });
const may = (name: string, holds: Place['holds'], max = 1): Place => ({ name, min: 0, max, holds });
const many = (name: string, max: number, holds: Place['holds']): Place => ({ name, min: 1, max, holds });

/**
 * The three families of the nine types: their root, their types, their most lines
 * (docs/authority/receipts.md#structure).
 */
export type Family = 'ticket' | 'invoice' | 'export';
export const FAMILY_BY_ROOT: Readonly<Record<string, Family>> = {
  eTck: 'ticket',
  eFact: 'invoice',
  eFact_Exp: 'export',
};
const TYPES_OF: Readonly<Record<Family, readonly number[]>> = {
  ticket: [101, 102, 103],
  invoice: [111, 112, 113],
  export: [121, 122, 123],
};
const MOST_LINES: Readonly<Record<Family, number>> = { ticket: 700, invoice: 200, export: 200 };
/** Every type code that the authority has, CFE and contingency (Table A). */
export const ALL_TYPES = oneOf(
  ...[
    101, 102, 103, 111, 112, 113, 121, 122, 123, 124, 131, 132, 133, 141, 142, 143, 151, 152, 153, 181, 182,
  ].flatMap((type) => [type, type + 100]),
);

/** The number of a receipt. */
export const NUMBER = whole(1, 9_999_999);

/** Zone A, IdDoc (docs/authority/receipts.md#identification). */
const idDoc = (family: Family): Place[] => [
  must('TipoCFE', oneOf(...TYPES_OF[family])),
  must('Serie', serie),
  must('Nro', NUMBER),
  may('NroInterno', text(50)),
  must('FchEmis', day(FIRST_DAY)),
  may('PeriodoDesde', day(FIRST_DAY)),
  may('PeriodoHasta', day(FIRST_DAY)),
  may('MntBruto', oneOf(1, 2, 3)),
  must('FmaPago', oneOf(1, 2)),
  may('FchVenc', day('2000-01-01')),
  ...(family === 'export' ? [must('ClauVenta', like(/^([A-Za-z]{1,3}|N\/A)$/, 'hasta 3 letras o N/A'))] : []),
  may('ModVenta', oneOf(1, 2, 3, 4, 80, 90, 91, 99)),
  ...(family === 'export' ? [must('ViaTransp', oneOf(1, 2, 3, 8, 9))] : []),
  may('InfoAdicionalDoc', text(150)),
  may('IVAalDia', oneOf(1)),
  may('SecProf', oneOf(1)),
  may('IndPagCta3ros', oneOf(1)),
  ...(family === 'export' ? [] : [may('IndCobPropia', oneOf(1))]),
];

/** Zone A, Emisor (docs/authority/receipts.md#issuer). */
const ISSUER: readonly Place[] = [
  must('RUCEmisor', ruc),
  must('RznSoc', text(150, 'filled')),
  may('NomComercial', text(30)),
  may('GiroEmis', text(100)),
  may('Telefono', text(20), 2),
  may('CorreoEmisor', text(80)),
  may('EmiSucursal', text(20)),
  must('CdgDGISucur', whole(0, 9999)),
  must('DomFiscal', text(70, 'filled')),
  must('Ciudad', text(30, 'filled')),
  must('Departamento', text(30, 'filled')),
  may('InfoAdicionalEmisor', text(150)),
];

/** Zone A, Receptor (docs/authority/receipts.md#receiver): in e-Facturas a RUC of Uruguay and nothing else. */
const receiver = (family: Family): Place[] => [
  may('TipoDocRecep', family === 'invoice' ? oneOf(2) : oneOf(1, 2, 3, 4, 5, 6, 7)),
  may('CodPaisRecep', family === 'invoice' ? oneOf('UY') : country),
  may('DocRecep', text(12, 'filled')),
  ...(family === 'invoice' ? [] : [may('DocRecepExt', text(20, 'filled'))]),
  may('RznSocRecep', text(150, 'filled')),
  may('DirRecep', text(70, 'filled')),
  may('CiudadRecep', text(30, 'filled')),
  may('DeptoRecep', text(30, 'filled')),
  may('PaisRecep', text(30, 'filled')),
  may('CP', whole(0, 99_999)),
  may('InfoAdicional', text(150)),
  may('LugarDestEnt', text(100)),
  may('CompraID', text(50)),
];

/** Zone A, Totales (docs/authority/receipts.md#totals); exports have a short form of their own. */
const totals = (family: Family): Place[] => {
  const first = [must('TpoMoneda', currency), may('TpoCambio', exchangeRate)];
  const lines = must('CantLinDet', whole(1, MOST_LINES[family]));
  const last = [may('MontoNF', signedAmount), must('MntPagar', signedAmount)];
  if (family === 'export')
    return [...first, must('MntExpoyAsim', signedAmount), must('MntTotal', amount), lines, ...last];
  return [
    ...first,
    may('MntNoGrv', amount),
    may('MntExpoyAsim', signedAmount),
    may('MntImpuestoPerc', amount),
    may('MntIVaenSusp', amount),
    may('MntNetoIvaTasaMin', amount),
    may('MntNetoIVATasaBasica', amount),
    may('MntNetoIVAOtra', amount),
    may('IVATasaMin', vatRate),
    may('IVATasaBasica', vatRate),
    may('MntIVATasaMin', amount),
    may('MntIVATasaBasica', amount),
    may('MntIVAOtra', amount),
    must('MntTotal', amount),
    may('MntTotRetenido', signedAmount),
    may('MntTotCredFisc', signedAmount),
    lines,
    may('RetencPercep', [must('CodRet', text(8, 'filled')), must('ValRetPerc', signedAmount)], 20),
    ...last,
  ];
};

/** Zone B (docs/authority/receipts.md#lines): which IndFact a family knows, and what only one of them has. */
const item = (family: Family): Place[] => [
  must('NroLinDet', whole(1, MOST_LINES[family])),
  may('CodItem', [must('TpoCod', text(10, 'filled')), must('Cod', text(35, 'filled'))], 5),
  must('IndFact', family === 'export' ? oneOf(5, 6, 7, 10) : oneOf(1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 16)),
  ...(family === 'export' ? [] : [may('IndAgenteResp', oneOf('R', 'A'))]),
  must('NomItem', text(80, 'filled')),
  ...(family === 'export' ? [may('NCM', text(20))] : []),
  may('DscItem', text(1000)),
  must('Cantidad', quantity),
  must('UniMed', text(4, 'filled')),
  must('PrecioUnitario', price),
  may('DescuentoPct', percent),
  may('DescuentoMonto', signedAmount),
  may('SubDescuento', [must('DescTipo', oneOf(1, 2)), must('DescVal', signedAmount)], 5),
  may('RecargoPct', percent),
  may('RecargoMnt', signedAmount),
  may('SubRecargo', [must('RecargoTipo', oneOf(1, 2)), must('RecargoVal', signedAmount)], 5),
  ...(family === 'export' ? [] : [may('RetencPercep', WITHHOLDING, 5)]),
  must('MontoItem', signedAmount),
];

const WITHHOLDING: readonly Place[] = [
  must('CodRet', text(8, 'filled')),
  may('Tasa', percent),
  may('MntSujetoaRet', amount),
  may('InfoAdicionalRet', text(150)),
  must('ValRetPerc', amount),
];

/** Zone C (docs/authority/receipts.md#other-zones), which only informs. */
const SUBTOTAL: readonly Place[] = [
  must('NroSTI', whole(1, 20)),
  must('GlosaSTI', text(100, 'filled')),
  may('OrdenSTI', whole(1, 99)),
  must('ValSubtotSTI', signedAmount),
];

/** Zone D (docs/authority/receipts.md#other-zones), which moves the bases. */
const GLOBAL: readonly Place[] = [
  must('NroLinDR', whole(1, 20)),
  must('TpoMovDR', oneOf('D', 'R')),
  must('TpoDR', oneOf(1, 2)),
  may('CodDR', whole(0, 999)),
  must('GlosaDR', text(100, 'filled')),
  must('ValorDR', signedAmount),
  must('IndFactDR', oneOf(1, 2, 3, 4, 6, 7, 10, 11, 12, 16)),
];

/** Zone E (docs/authority/receipts.md#other-zones). */
const PAYMENT: readonly Place[] = [
  must('NroLinMP', whole(1, 40)),
  may('CodMP', like(/^-?\d{1,3}$/, 'un entero de hasta 3 dígitos')),
  must('GlosaMP', text(100, 'filled')),
  may('OrdenMP', whole(0, 99)),
  must('ValorPago', signedAmount),
];

/** Zone F (docs/authority/receipts.md#reference). */
const REFERENCE: readonly Place[] = [
  must('NroLinRef', whole(1, 40)),
  may('IndGlobal', oneOf(1)),
  may('TpoDocRef', ALL_TYPES),
  may('Serie', serie),
  may('NroCFERef', NUMBER),
  may('RazonRef', text(90, 'filled')),
  may('FechaCFEref', day(FIRST_DAY)),
  may('MntCFEref', amount),
  may('TpoMonedaRef', currency),
  may('TpoCambioRef', exchangeRate),
];

/** Zone G (docs/authority/receipts.md#cae-data). */
const CAE_DATA: readonly Place[] = [
  must('CAE_ID', like(/^\d{1,11}$/, 'un entero de hasta 11 dígitos')),
  must('DNro', NUMBER),
  must('HNro', NUMBER),
  must('FecVenc', day(FIRST_DAY)),
  may('CAEEspecial', oneOf(1, 2, 3, 4)),
  may('CausalCAEEsp', whole(0, 999)),
];

const layout = (family: Family): Place[] => [
  must('TmstFirma', moment),
  must('Encabezado', [
    must('IdDoc', idDoc(family)),
    must('Emisor', ISSUER),
    may('Receptor', receiver(family)),
    must('Totales', totals(family)),
  ]),
  must('Detalle', [many('Item', MOST_LINES[family], item(family))]),
  may('SubTotInfo', [may('STI_Item', SUBTOTAL, 20)]),
  may('DscRcgGlobal', [may('DRG_Item', GLOBAL, 20)]),
  may('MediosPago', [may('MedioPago', PAYMENT, 40)]),
  may('Referencia', [may('Referencia', REFERENCE, 40)]),
  must('CAEData', CAE_DATA),
];

/**
 * The whole layout below eTck, eFact or eFact_Exp: the elements in their order (docs/authority/receipts.md#structure).
 */
export const LAYOUTS: Readonly<Record<Family, readonly Place[]>> = {
  ticket: layout('ticket'),
  invoice: layout('invoice'),
  export: layout('export'),
};

/** The Caratula of a sobre (Formato Sobre v05; docs/authority/sobres.md#caratula). */
export const CARATULA: readonly Place[] = [
  must('RutReceptor', ruc),
  must('RUCEmisor', ruc),
  must('Idemisor', like(/^\d{1,10}$/, 'un entero de hasta 10 dígitos')),
  must('CantCFE', whole(1, 250)),
  must('Fecha', moment),
  must('X509Certificate', like(/^[A-Za-z0-9+/=\s]+$/, 'base64')),
];
