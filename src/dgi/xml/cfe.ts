import type {
  CaeData,
  CfeDocument,
  Issuer,
  Line,
  Receiver,
  Reference,
  Totals,
} from '../../domain/cfeDocument.ts';
import { CFE_TYPES, IVA_TYPES } from '../../domain/cfeTypes.ts';
import { vatPercents } from '../../domain/vat.ts';
import { element, optional, optionalPlain, plain } from './write.ts';

/** Namespace of everything that the authority defines. */
export const CFE_NAMESPACE = 'http://cfe.dgi.gub.uy';

/** TipoDocRecep of Formato CFE A-C60. */
const RECEIVER_DOCUMENT_TYPES = { RUC: 2, NIFE: 7 } as const;

/**
 * The unsigned CFE as canonical XML: `<CFE …><eTck>…</eTck></CFE>`. Zones and elements stand in the order of the XSD
 * (CFEType.xsd 1.44.2; dgi/cfe-format.md §1.2 to §1.8); what a document lacks is left out, never empty.
 */
export function writeCfe(document: CfeDocument): string {
  const { root } = CFE_TYPES[document.type];
  return (
    `<CFE xmlns="${CFE_NAMESPACE}" version="1.0"><${root}>` +
    plain('TmstFirma', document.signedAt) +
    `<Encabezado>${identification(document)}${issuer(document.issuer)}${receiver(document.receiver)}${totals(document)}</Encabezado>` +
    `<Detalle>${document.lines.map(line).join('')}</Detalle>` +
    reference(document.reference) +
    caeData(document.cae) +
    `</${root}></CFE>`
  );
}

/** IdDoc, §1.3. */
function identification(document: CfeDocument): string {
  return (
    '<IdDoc>' +
    plain('TipoCFE', CFE_TYPES[document.type].code) +
    plain('Serie', document.serie) +
    plain('Nro', document.numero) +
    plain('FchEmis', document.emissionDate) +
    (document.pricesIncludeVat ? plain('MntBruto', 1) : '') +
    plain('FmaPago', document.paymentMethod) +
    optionalPlain('FchVenc', document.dueDate) +
    optional('ClauVenta', document.saleCondition) +
    optionalPlain('ModVenta', document.saleMode) +
    optionalPlain('ViaTransp', document.transport) +
    optional('InfoAdicionalDoc', document.information) +
    '</IdDoc>'
  );
}

/** Emisor, §1.4. */
function issuer(of: Issuer): string {
  return (
    '<Emisor>' +
    plain('RUCEmisor', of.rut) +
    element('RznSoc', of.legalName) +
    optional('NomComercial', of.tradeName) +
    optional('Telefono', of.phone) +
    plain('CdgDGISucur', of.branch) +
    element('DomFiscal', of.address) +
    element('Ciudad', of.city) +
    element('Departamento', of.department) +
    '</Emisor>'
  );
}

/** Receptor, §1.5. */
function receiver(of: Receiver | undefined): string {
  if (!of) return '';
  const { document } = of;
  return (
    '<Receptor>' +
    (document
      ? plain('TipoDocRecep', RECEIVER_DOCUMENT_TYPES[document.type]) +
        plain('CodPaisRecep', document.country) +
        element(document.type === 'RUC' ? 'DocRecep' : 'DocRecepExt', document.number)
      : '') +
    optional('RznSocRecep', of.legalName) +
    optional('DirRecep', of.address) +
    optional('CiudadRecep', of.city) +
    optional('DeptoRecep', of.department) +
    optional('PaisRecep', of.countryName) +
    optional('CompraID', of.purchaseOrder) +
    '</Receptor>'
  );
}

const isZero = (amount: string): boolean => /^-?[0.]+$/.test(amount);
const unlessZero = (name: string, amount: string): string => (isZero(amount) ? '' : plain(name, amount));

/** Totales, §1.6: the export documents have a short form without VAT. */
function totals({ type, emissionDate, totals: of, lines }: CfeDocument): string {
  const abroad = CFE_TYPES[type].family === 'export';
  return (
    '<Totales>' +
    plain('TpoMoneda', of.currency) +
    (of.currency === 'UYU' ? '' : plain('TpoCambio', of.exchangeRate)) +
    (abroad ? plain('MntExpoyAsim', of.exported) : localTotals(of, emissionDate)) +
    plain('MntTotal', of.total) +
    plain('CantLinDet', lines.length) +
    unlessZero('MontoNF', of.nonBillable) +
    plain('MntPagar', of.pay) +
    '</Totales>'
  );
}

/** Totals with VAT; the rates are those of the day of emission (table B). */
function localTotals(of: Totals, emissionDate: string): string {
  const percents = vatPercents(emissionDate);
  const minimum = !isZero(of.minimumNet);
  const basic = !isZero(of.basicNet);
  return (
    unlessZero('MntNoGrv', of.exempt) +
    unlessZero('MntExpoyAsim', of.exported) +
    (minimum ? plain('MntNetoIvaTasaMin', of.minimumNet) : '') +
    (basic ? plain('MntNetoIVATasaBasica', of.basicNet) : '') +
    (minimum ? plain('IVATasaMin', percents.minimum.toFixed(3)) : '') +
    (basic ? plain('IVATasaBasica', percents.basic.toFixed(3)) : '') +
    (minimum ? plain('MntIVATasaMin', of.minimumVat) : '') +
    (basic ? plain('MntIVATasaBasica', of.basicVat) : '')
  );
}

/** Item, §1.7; the authority numbers lines from 1. */
function line(of: Line, index: number): string {
  return (
    '<Item>' +
    plain('NroLinDet', index + 1) +
    plain('IndFact', IVA_TYPES[of.ivaType]) +
    element('NomItem', of.name) +
    optional('DscItem', of.description) +
    plain('Cantidad', of.quantity) +
    element('UniMed', of.unit) +
    plain('PrecioUnitario', of.unitPrice) +
    plain('MontoItem', of.amount) +
    '</Item>'
  );
}

/** Referencia, §2.7: the one CFE that a note corrects. */
function reference(of: Reference | undefined): string {
  if (!of) return '';
  return (
    '<Referencia><Referencia>' +
    plain('NroLinRef', 1) +
    plain('TpoDocRef', CFE_TYPES[of.type].code) +
    plain('Serie', of.serie) +
    plain('NroCFERef', of.numero) +
    optional('RazonRef', of.reason) +
    plain('FechaCFEref', of.emissionDate) +
    plain('MntCFEref', of.amount) +
    plain('TpoMonedaRef', of.currency) +
    (of.currency === 'UYU' ? '' : plain('TpoCambioRef', of.exchangeRate)) +
    '</Referencia></Referencia>'
  );
}

/** CAEData, §5. */
function caeData(of: CaeData): string {
  return (
    '<CAEData>' +
    plain('CAE_ID', of.authorizationNumber) +
    plain('DNro', of.numberStart) +
    plain('HNro', of.numberEnd) +
    plain('FecVenc', of.expirationDate) +
    (of.special ? plain('CAEEspecial', of.special.kind) + plain('CausalCAEEsp', of.special.cause) : '') +
    '</CAEData>'
  );
}
