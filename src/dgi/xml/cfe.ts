import Big from 'big.js';
import { isSmallTaxpayer } from '../../domain/numbers/cae.ts';
import type {
  CaeData,
  CfeDocument,
  Issuer,
  Line,
  LineAdjustment,
  PaymentMeans,
  Receiver,
  Reference,
  ReferredCfe,
  Totals,
} from '../../domain/receipts/cfeDocument.ts';
import { CFE_TYPES, IVA_TYPES, type IvaType } from '../../domain/receipts/cfeTypes.ts';
import { RECEIVER_DOCUMENTS } from '../../domain/receipts/receiverDocument.ts';
import { vatPercents } from '../../domain/receipts/vat.ts';
import { amountText, sumOf } from '../../domain/values/decimal.ts';
import { element, optionalElement, optionalPlain, plain } from './write.ts';

/** Namespace of all elements that the authority defines. */
export const CFE_NAMESPACE = 'http://cfe.dgi.gub.uy';

/**
 * Writes the unsigned CFE as canonical XML, `<CFE …><eTck>…</eTck></CFE>`, in the order of the XSD (CFEType.xsd 1.44.2;
 * docs/authority/receipts.md#structure). Missing values are omitted, never empty.
 */
export function writeCfe(document: CfeDocument): string {
  const { root } = CFE_TYPES[document.type];
  return (
    `<CFE xmlns="${CFE_NAMESPACE}" version="1.0"><${root}>` +
    plain('TmstFirma', document.signedAt) +
    '<Encabezado>' +
    writeIdentification(document) +
    writeIssuer(document.issuer) +
    writeReceiver(document.receiver) +
    writeTotals(document) +
    '</Encabezado>' +
    `<Detalle>${document.lines.map((line, index) => writeLine(line, index, document.cae)).join('')}</Detalle>` +
    writeAdjustments(document) +
    writePayments(document.payments) +
    writeReferences(document.references) +
    writeCaeData(document.cae) +
    `</${root}></CFE>`
  );
}

/** IdDoc (docs/authority/receipts.md#identification). */
function writeIdentification(document: CfeDocument): string {
  return (
    '<IdDoc>' +
    plain('TipoCFE', CFE_TYPES[document.type].code) +
    plain('Serie', document.serie) +
    plain('Nro', document.numero) +
    optionalElement('NroInterno', document.externalId) +
    plain('FchEmis', document.emissionDate) +
    writePriceMode(document) +
    plain('FmaPago', document.paymentMethod) +
    optionalPlain('FchVenc', document.dueDate) +
    optionalElement('ClauVenta', document.saleCondition) +
    optionalPlain('ModVenta', document.saleMode) +
    optionalPlain('ViaTransp', document.transport) +
    optionalElement('InfoAdicionalDoc', document.information) +
    (isVatOverdue(document) ? plain('IVAalDia', 1) : '') +
    (document.thirdPartyPayment ? plain('IndPagCta3ros', 1) : '') +
    (document.ownCollection ? plain('IndCobPropia', 1) : '') +
    '</IdDoc>'
  );
}

/** MntBruto: 3 for small taxpayers, 1 where prices include VAT (docs/authority/caes.md#special-kinds). */
function writePriceMode({ cae, pricesIncludeVat }: CfeDocument): string {
  if (isSmallTaxpayer(cae.special?.kind)) return plain('MntBruto', 3);
  return pricesIncludeVat ? plain('MntBruto', 1) : '';
}

/** IVAalDia, which Monotributos must not have (Formato CFE v25.2, zone G, field 5). */
const isVatOverdue = ({ issuer, cae }: CfeDocument): boolean =>
  issuer.vatNotUpToDate === true && cae.special?.kind !== 3 && cae.special?.kind !== 4;

/** Returns IndFact; sales of small taxpayers have a value of their own. */
const itemKind = (ivaType: IvaType, { special }: CaeData): number =>
  ivaType === 'EXEMPT' && isSmallTaxpayer(special?.kind) ? 16 : IVA_TYPES[ivaType];

/** Emisor (docs/authority/receipts.md#issuer). */
function writeIssuer(issuer: Issuer): string {
  return (
    '<Emisor>' +
    plain('RUCEmisor', issuer.rut) +
    element('RznSoc', issuer.legalName) +
    optionalElement('NomComercial', issuer.tradeName) +
    optionalElement('Telefono', issuer.phone) +
    optionalElement('CorreoEmisor', issuer.email) +
    plain('CdgDGISucur', issuer.branch) +
    element('DomFiscal', issuer.address) +
    element('Ciudad', issuer.city) +
    element('Departamento', issuer.department) +
    '</Emisor>'
  );
}

/** Receptor (docs/authority/receipts.md#receiver). */
function writeReceiver(receiver: Receiver | undefined): string {
  if (!receiver) return '';
  const { document } = receiver;
  return (
    '<Receptor>' +
    (document
      ? plain('TipoDocRecep', RECEIVER_DOCUMENTS[document.type].code) +
        plain('CodPaisRecep', document.country) +
        element(RECEIVER_DOCUMENTS[document.type].element, document.number)
      : '') +
    optionalElement('RznSocRecep', receiver.legalName) +
    optionalElement('DirRecep', receiver.address) +
    optionalElement('CiudadRecep', receiver.city) +
    optionalElement('DeptoRecep', receiver.department) +
    optionalElement('PaisRecep', receiver.countryName) +
    optionalElement('CompraID', receiver.purchaseOrder) +
    '</Receptor>'
  );
}

const isZero = (amount: string): boolean => /^-?[0.]+$/.test(amount);
const unlessZero = (name: string, amount: string): string => (isZero(amount) ? '' : plain(name, amount));

/** Totales (docs/authority/receipts.md#totals); export documents have a short form without VAT. */
function writeTotals({ type, emissionDate, totals, lines, ownCollection }: CfeDocument): string {
  const isExport = CFE_TYPES[type].family === 'export';
  return (
    '<Totales>' +
    plain('TpoMoneda', totals.currency) +
    (totals.currency === 'UYU' ? '' : plain('TpoCambio', totals.exchangeRate)) +
    (isExport ? plain('MntExpoyAsim', totals.exported) : writeLocalTotals(totals, emissionDate)) +
    plain('MntTotal', totals.total) +
    plain('CantLinDet', lines.length) +
    // A collection has MontoNF even if 0 (zone A, field 20).
    (ownCollection ? plain : unlessZero)('MontoNF', totals.nonBillable) +
    plain('MntPagar', totals.pay) +
    '</Totales>'
  );
}

/** Writes totals with VAT at the rates of the day of emission (table B). */
function writeLocalTotals(totals: Totals, emissionDate: string): string {
  const percents = vatPercents(emissionDate);
  const minimum = !isZero(totals.minimumNet);
  const basic = !isZero(totals.basicNet);
  return (
    unlessZero('MntNoGrv', totals.exempt) +
    unlessZero('MntExpoyAsim', totals.exported) +
    unlessZero('MntImpuestoPerc', totals.perceived) +
    unlessZero('MntIVaenSusp', totals.suspended) +
    (minimum ? plain('MntNetoIvaTasaMin', totals.minimumNet) : '') +
    (basic ? plain('MntNetoIVATasaBasica', totals.basicNet) : '') +
    unlessZero('MntNetoIVAOtra', totals.otherNet) +
    (minimum ? plain('IVATasaMin', percents.minimum.toFixed(3)) : '') +
    (basic ? plain('IVATasaBasica', percents.basic.toFixed(3)) : '') +
    (minimum ? plain('MntIVATasaMin', totals.minimumVat) : '') +
    (basic ? plain('MntIVATasaBasica', totals.basicVat) : '') +
    unlessZero('MntIVAOtra', totals.otherVat)
  );
}

/** Item (docs/authority/receipts.md#lines); the authority numbers lines from 1. */
function writeLine(line: Line, index: number, cae: CaeData): string {
  return (
    '<Item>' +
    plain('NroLinDet', index + 1) +
    (line.codes ?? [])
      .map(({ type, value }) => `<CodItem>${plain('TpoCod', type)}${element('Cod', value)}</CodItem>`)
      .join('') +
    plain('IndFact', itemKind(line.ivaType, cae)) +
    element('NomItem', line.name) +
    optionalElement('NCM', line.ncm) +
    optionalElement('DscItem', line.description) +
    plain('Cantidad', line.quantity) +
    element('UniMed', line.unit) +
    plain('PrecioUnitario', line.unitPrice) +
    writeLineAdjustments(line.discounts, DISCOUNT_NAMES) +
    writeLineAdjustments(line.surcharges, SURCHARGE_NAMES) +
    plain('MontoItem', line.amount) +
    '</Item>'
  );
}

interface AdjustmentNames {
  readonly percent: string;
  readonly amount: string;
  readonly row: string;
  readonly type: string;
  readonly value: string;
}
const DISCOUNT_NAMES: AdjustmentNames = {
  percent: 'DescuentoPct',
  amount: 'DescuentoMonto',
  row: 'SubDescuento',
  type: 'DescTipo',
  value: 'DescVal',
};
const SURCHARGE_NAMES: AdjustmentNames = {
  percent: 'RecargoPct',
  amount: 'RecargoMnt',
  row: 'SubRecargo',
  type: 'RecargoTipo',
  value: 'RecargoVal',
};

/** Writes fields 12 to 15 or 16 to 19 of zone B: the percentage of a single row, the sum, and every row. */
function writeLineAdjustments(rows: readonly LineAdjustment[] = [], names: AdjustmentNames): string {
  const [first, second] = rows;
  if (!first) return '';
  const sum = sumOf(rows.map(({ amount }) => amount));
  const each = rows.map(({ percent, amount }) => {
    const type = plain(names.type, percent === undefined ? 1 : 2);
    return `<${names.row}>${type}${plain(names.value, percent === undefined ? amount : Big(percent).toFixed(2))}</${names.row}>`;
  });
  const percent = second === undefined ? first.percent : undefined;
  return optionalPlain(names.percent, percent) + plain(names.amount, amountText(sum)) + each.join('');
}

/** DscRcgGlobal (zone D): ValorDR is an amount even for an adjustment by percentage. */
function writeAdjustments({ adjustments = [], cae }: CfeDocument): string {
  if (adjustments.length === 0) return '';
  const rows = adjustments.map(
    ({ kind, ivaType, description, percent, amount }, index) =>
      '<DRG_Item>' +
      plain('NroLinDR', index + 1) +
      plain('TpoMovDR', kind === 'DISCOUNT' ? 'D' : 'R') +
      plain('TpoDR', percent === undefined ? 1 : 2) +
      element('GlosaDR', description) +
      plain('ValorDR', amount) +
      plain('IndFactDR', itemKind(ivaType, cae)) +
      '</DRG_Item>',
  );
  return `<DscRcgGlobal>${rows.join('')}</DscRcgGlobal>`;
}

/** MediosPago (zone E). */
function writePayments(payments: readonly PaymentMeans[] = []): string {
  if (payments.length === 0) return '';
  const rows = payments.map(
    ({ code, description, amount }, index) =>
      `<MedioPago>${plain('NroLinMP', index + 1)}${optionalPlain('CodMP', code)}` +
      `${element('GlosaMP', description)}${plain('ValorPago', amount)}</MedioPago>`,
  );
  return `<MediosPago>${rows.join('')}</MediosPago>`;
}

/** Referencia (docs/authority/receipts.md#reference). */
function writeReferences(references: readonly Reference[] = []): string {
  if (references.length === 0) return '';
  const rows = references.map(
    (reference, index) =>
      '<Referencia>' + plain('NroLinRef', index + 1) + writeReferred(reference) + '</Referencia>',
  );
  return `<Referencia>${rows.join('')}</Referencia>`;
}

function writeReferred({ cfe, reason }: Reference): string {
  if (!cfe) return plain('IndGlobal', 1) + optionalElement('RazonRef', reason);
  if (cfe.isGlobal) return writeUnknownReferred(cfe, reason);
  return (
    plain('TpoDocRef', cfe.typeCode) +
    plain('Serie', cfe.serie) +
    plain('NroCFERef', cfe.numero) +
    optionalElement('RazonRef', reason) +
    plain('FechaCFEref', cfe.emissionDate) +
    writeReferredValue(cfe.value)
  );
}

function writeReferredValue(value: ReferredCfe['value']): string {
  if (!value) return '';
  const { amount, currency, exchangeRate } = value;
  return (
    plain('MntCFEref', amount) +
    plain('TpoMonedaRef', currency) +
    (currency === 'UYU' ? '' : plain('TpoCambioRef', exchangeRate))
  );
}

/** RazonRef. */
const LONGEST_REASON = 90;

/** Names a CFE that the authority does not know in the reason: the other fields must not name such a CFE. */
function writeUnknownReferred(
  { typeCode, serie, numero, emissionDate }: ReferredCfe,
  reason?: string,
): string {
  const label = Object.values(CFE_TYPES).find(({ code }) => code === typeCode)?.label ?? typeCode;
  const name = `${label} ${serie} ${numero}`;
  const text = reason === undefined ? name : `${name}: ${reason}`;
  return (
    plain('IndGlobal', 1) +
    element('RazonRef', text.slice(0, LONGEST_REASON).trimEnd()) +
    plain('FechaCFEref', emissionDate)
  );
}

/** CAEData (docs/authority/receipts.md#cae-data). */
function writeCaeData(cae: CaeData): string {
  return (
    '<CAEData>' +
    plain('CAE_ID', cae.authorizationNumber) +
    plain('DNro', cae.numberStart) +
    plain('HNro', cae.numberEnd) +
    plain('FecVenc', cae.expirationDate) +
    optionalPlain('CAEEspecial', cae.special?.kind) +
    optionalPlain('CausalCAEEsp', cae.special?.cause) +
    '</CAEData>'
  );
}
