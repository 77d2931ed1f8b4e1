/**
 * The words of the printed form, in one place to compare with the authority's
 * (docs/authority/printed-form.md).
 */
import type { CfeType } from '../../domain/receipts/cfeTypes.ts';

/** Names of the types (Formato CFE v25.2, table A). */
export const TYPE_NAMES: Readonly<Record<CfeType, string>> = {
  ETICKET: 'e-Ticket',
  ETICKET_NC: 'Nota de Crédito de e-Ticket',
  ETICKET_ND: 'Nota de Débito de e-Ticket',
  EFACTURA: 'e-Factura',
  EFACTURA_NC: 'Nota de Crédito de e-Factura',
  EFACTURA_ND: 'Nota de Débito de e-Factura',
  EFACTURA_EXPORT: 'e-Factura Exportación',
  EFACTURA_EXPORT_NC: 'Nota de Crédito de e-Factura Exportación',
  EFACTURA_EXPORT_ND: 'Nota de Débito de e-Factura Exportación',
};

/** FmaPago (zone A, field 11). */
export const PAYMENT_FORMS: Readonly<Record<string, string>> = { 1: 'Contado', 2: 'Crédito' };

/** TipoDocRecep (zone A, field 60). Kind 4 ("others") prints a general word. */
export const DOCUMENT_KINDS: Readonly<Record<string, string>> = {
  1: 'NIE',
  2: 'RUC',
  3: 'C.I.',
  4: 'Documento',
  5: 'Pasaporte',
  6: 'DNI',
  7: 'NIFE',
};

/** CAEEspecial: the text of the box that taxpayers of a special kind print. */
export const SPECIAL_TAXPAYERS: Readonly<Record<string, string>> = {
  1: 'Contribuyente Exonerado',
  2: 'Contribuyente IVA MINIMO',
  3: 'MONOTRIBUTO',
  4: 'MONOTRIBUTO SOCIAL MIDES',
};
/** CAEEspecial of receipts without the note on VAT (*IVA al día*). */
export const WITHOUT_VAT_NOTE = ['3', '4'];

/** Rows of the totals in the order of their fields (zone A, 112 to 130), each with the field of its rate, if any. */
export const TOTALS: readonly { field: string; label: string; rate?: string }[] = [
  { field: 'MntNoGrv', label: 'No gravado' },
  { field: 'MntExpoyAsim', label: 'Exportación y asimiladas' },
  { field: 'MntImpuestoPerc', label: 'Impuesto percibido' },
  { field: 'MntIVaenSusp', label: 'IVA en suspenso' },
  { field: 'MntNetoIvaTasaMin', label: 'Neto tasa mínima', rate: 'IVATasaMin' },
  { field: 'MntNetoIVATasaBasica', label: 'Neto tasa básica', rate: 'IVATasaBasica' },
  { field: 'MntNetoIVAOtra', label: 'Neto otra tasa' },
  { field: 'MntIVATasaMin', label: 'IVA tasa mínima', rate: 'IVATasaMin' },
  { field: 'MntIVATasaBasica', label: 'IVA tasa básica', rate: 'IVATasaBasica' },
  { field: 'MntIVAOtra', label: 'IVA otra tasa' },
  { field: 'MntTotal', label: 'Monto total' },
  { field: 'MntTotRetenido', label: 'Total retenido' },
  { field: 'MntTotCredFisc', label: 'Total créditos fiscales' },
  { field: 'MontoNF', label: 'Monto no facturable' },
];
