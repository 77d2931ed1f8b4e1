import { type CfeType, cfeTypeRow } from '../../domain/receipts/cfeTypes.ts';
import { vatPercents } from '../../domain/receipts/vat.ts';
import type { SerieRange } from '../../domain/reports/ranges.ts';
import type { AmountRow, ReportSummary, TypeSummary } from '../../domain/reports/summary.ts';
import { CFE_NAMESPACE } from './cfe.ts';
import { plain } from './write.ts';

/** Caratula of a report. */
export interface ReportHeading {
  readonly rut: string;
  /** FechaResumen: the reported day, `YYYY-MM-DD`. */
  readonly date: string;
  /** Our number of this attempt, unique for the enterprise: up to 10 digits. */
  readonly idEmisor: bigint | number;
  /** SecEnvio: 1 to 99. */
  readonly sequence: number;
  /** TmstFirmaEnv: `YYYY-MM-DDTHH:MM:SS-03:00`. */
  readonly signedAt: string;
}

/** The element of each type, in the order of ReporteDiarioCFE.xsd 1.44.2 and of the codes. */
const ELEMENTS = {
  ETICKET: 'Rsmn_Tck',
  ETICKET_NC: 'Rsmn_Tck_Nota_Credito',
  ETICKET_ND: 'Rsmn_Tck_Nota_Debito',
  EFACTURA: 'Rsmn_Fac',
  EFACTURA_NC: 'Rsmn_Fac_Nota_Credito',
  EFACTURA_ND: 'Rsmn_Fac_Nota_Debito',
  EFACTURA_EXPORT: 'Rsmn_Fac_Exp',
  EFACTURA_EXPORT_NC: 'Rsmn_Fac_Exp_Nota_Credito',
  EFACTURA_EXPORT_ND: 'Rsmn_Fac_Exp_Nota_Debito',
} as const satisfies Record<CfeType, string>;

/**
 * Writes the unsigned daily report as canonical XML for `Signer.sign` (Formato Reporte v13.2, ReporteDiarioCFE.xsd
 * 1.44.2; docs/authority/reports.md#the-document). A day without receipts has only a heading.
 */
export function writeReport(heading: ReportHeading, summary: ReportSummary): string {
  return (
    `<Reporte xmlns="${CFE_NAMESPACE}"><Caratula version="1.0">` +
    plain('RUCEmisor', heading.rut) +
    plain('FechaResumen', heading.date) +
    plain('IDEmisor', heading.idEmisor.toString()) +
    plain('SecEnvio', heading.sequence) +
    plain('TmstFirmaEnv', heading.signedAt) +
    plain('CantComprobantes', summary.used) +
    `</Caratula>${summary.types.map(writeType).join('')}</Reporte>`
  );
}

function writeType(summary: TypeSummary): string {
  const { type, used, aboveUiLimit, annulled, issued, rows, usedRanges, annulledRanges } = summary;
  const isExport = cfeTypeRow(type).family === 'export';
  return (
    `<${ELEMENTS[type]}>${plain('TipoComp', cfeTypeRow(type).code)}<RsmnData>` +
    writeList('Montos', rows.map(isExport ? writeExported : writeLocal)) +
    plain('CantDocsUtil', used) +
    (aboveUiLimit === null ? '' : plain('CantDocsMay_topeUI', aboveUiLimit)) +
    plain('CantDocsAnulados', annulled) +
    plain('CantDocsEmi', issued) +
    writeList('RngDocsUtil', usedRanges.map(writeRange('RDU_Item'))) +
    writeList('RngDocsAnulados', annulledRanges.map(writeRange('RDA_Item'))) +
    `</RsmnData></${ELEMENTS[type]}>`
  );
}

/** Writes a list; '' for an empty one. */
const writeList = (name: string, items: readonly string[]): string =>
  items.length === 0 ? '' : `<${name}>${items.join('')}</${name}>`;

const ZERO = '0.00';

const writeThirdParty = ({ thirdPartyPayment }: AmountRow): string =>
  thirdPartyPayment ? plain('IndPagCta3ros', 1) : '';

/** Mnts_FyT_Item: every field, zeros and both rates included, as in the official sample. */
function writeLocal(row: AmountRow): string {
  const { minimum, basic } = vatPercents(row.emissionDate);
  return (
    '<Mnts_FyT_Item>' +
    plain('Fecha', row.emissionDate) +
    plain('CodSuc', row.branch) +
    writeThirdParty(row) +
    plain('TotMntNoGrv', row.exempt) +
    plain('TotMntExpyAsim', row.exported) +
    plain('TotMntImpPerc', row.perceived) +
    plain('TotMntIVAenSusp', row.suspended) +
    plain('TotMntIVATasaMin', row.minimumNet) +
    plain('TotMntIVATasaBas', row.basicNet) +
    plain('TotMntIVAOtra', row.otherNet) +
    plain('MntIVATasaMin', row.minimumVat) +
    plain('MntIVATasaBas', row.basicVat) +
    plain('MntIVAOtra', row.otherVat) +
    plain('IVATasaMin', minimum.toFixed(3)) +
    plain('IVATasaBas', basic.toFixed(3)) +
    plain('TotMntTotal', row.total) +
    plain('TotMntRetenido', ZERO) +
    '</Mnts_FyT_Item>'
  );
}

/** Mnts_FExp_Item: without VAT. */
const writeExported = (row: AmountRow): string =>
  '<Mnts_FExp_Item>' +
  plain('Fecha', row.emissionDate) +
  plain('CodSuc', row.branch) +
  writeThirdParty(row) +
  plain('TotMntExpyAsim', row.exported) +
  plain('TotMntTotal', row.total) +
  '</Mnts_FExp_Item>';

const writeRange =
  (name: string) =>
  ({ serie, from, to }: SerieRange): string =>
    `<${name}>${plain('Serie', serie)}${plain('NroDesde', from)}${plain('NroHasta', to)}</${name}>`;
