import type {
  CaeData,
  CfeDocument,
  Issuer,
  Line,
  Receiver,
  Reference,
  Totals,
} from '../../domain/receipts/cfeDocument.ts';
import { CFE_TYPES, IVA_TYPES } from '../../domain/receipts/cfeTypes.ts';
import { RECEIVER_DOCUMENTS } from '../../domain/receipts/receiverDocument.ts';
import { vatPercents } from '../../domain/receipts/vat.ts';
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
    `<Detalle>${document.lines.map(writeLine).join('')}</Detalle>` +
    writeReference(document.reference) +
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
    plain('FchEmis', document.emissionDate) +
    (document.pricesIncludeVat ? plain('MntBruto', 1) : '') +
    plain('FmaPago', document.paymentMethod) +
    optionalPlain('FchVenc', document.dueDate) +
    optionalElement('ClauVenta', document.saleCondition) +
    optionalPlain('ModVenta', document.saleMode) +
    optionalPlain('ViaTransp', document.transport) +
    optionalElement('InfoAdicionalDoc', document.information) +
    '</IdDoc>'
  );
}

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
function writeTotals({ type, emissionDate, totals, lines }: CfeDocument): string {
  const abroad = CFE_TYPES[type].family === 'export';
  return (
    '<Totales>' +
    plain('TpoMoneda', totals.currency) +
    (totals.currency === 'UYU' ? '' : plain('TpoCambio', totals.exchangeRate)) +
    (abroad ? plain('MntExpoyAsim', totals.exported) : writeLocalTotals(totals, emissionDate)) +
    plain('MntTotal', totals.total) +
    plain('CantLinDet', lines.length) +
    unlessZero('MontoNF', totals.nonBillable) +
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
    (minimum ? plain('MntNetoIvaTasaMin', totals.minimumNet) : '') +
    (basic ? plain('MntNetoIVATasaBasica', totals.basicNet) : '') +
    (minimum ? plain('IVATasaMin', percents.minimum.toFixed(3)) : '') +
    (basic ? plain('IVATasaBasica', percents.basic.toFixed(3)) : '') +
    (minimum ? plain('MntIVATasaMin', totals.minimumVat) : '') +
    (basic ? plain('MntIVATasaBasica', totals.basicVat) : '')
  );
}

/** Item (docs/authority/receipts.md#lines); the authority numbers lines from 1. */
function writeLine(line: Line, index: number): string {
  return (
    '<Item>' +
    plain('NroLinDet', index + 1) +
    plain('IndFact', IVA_TYPES[line.ivaType]) +
    element('NomItem', line.name) +
    optionalElement('DscItem', line.description) +
    plain('Cantidad', line.quantity) +
    element('UniMed', line.unit) +
    plain('PrecioUnitario', line.unitPrice) +
    plain('MontoItem', line.amount) +
    '</Item>'
  );
}

/** Referencia (docs/authority/receipts.md#reference): the CFE that a note corrects. */
function writeReference(reference: Reference | undefined): string {
  if (!reference) return '';
  return (
    '<Referencia><Referencia>' +
    plain('NroLinRef', 1) +
    plain('TpoDocRef', CFE_TYPES[reference.type].code) +
    plain('Serie', reference.serie) +
    plain('NroCFERef', reference.numero) +
    optionalElement('RazonRef', reference.reason) +
    plain('FechaCFEref', reference.emissionDate) +
    plain('MntCFEref', reference.amount) +
    plain('TpoMonedaRef', reference.currency) +
    (reference.currency === 'UYU' ? '' : plain('TpoCambioRef', reference.exchangeRate)) +
    '</Referencia></Referencia>'
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
    (cae.special ? plain('CAEEspecial', cae.special.kind) + plain('CausalCAEEsp', cae.special.cause) : '') +
    '</CAEData>'
  );
}
