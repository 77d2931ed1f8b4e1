import { isIdentityCard, isRuc } from '../../checkDigits.ts';
import { dayInMontevideo, daysAfter, momentOf } from '../../clock.ts';
import type { ParsedReceipt, Zone } from '../reading.ts';
import {
  EMISSION_DAYS_AHEAD,
  NET_ELEMENTS,
  RECEIVER_THRESHOLD_UI,
  SALE_MODES,
  SIGNATURE_DAYS_AHEAD,
  uiValue,
} from './constants.ts';
import { sumOf } from './sums.ts';

/** Faults of zone A beyond its layout: dates, indicators, issuer (docs/authority/receipts.md). */
export function* faultsOfDocument(receipt: ParsedReceipt, now: Date): Generator<string> {
  const { idDoc, caeData } = receipt;
  const special = caeData.text('CAEEspecial');
  const issuedOn = idDoc.text('FchEmis') ?? '';
  if (issuedOn > daysAfter(dayInMontevideo(now), EMISSION_DAYS_AHEAD))
    yield `A-C5 FchEmis: posterior en más de ${EMISSION_DAYS_AHEAD} días a la fecha de DGI`;
  const signedAt = momentOf(receipt.signedAt);
  if (!signedAt || dayInMontevideo(signedAt) > daysAfter(dayInMontevideo(now), SIGNATURE_DAYS_AHEAD))
    yield 'H TmstFirma: posterior en más de un día a la fecha de DGI';
  const [from, to] = [idDoc.text('PeriodoDesde'), idDoc.text('PeriodoHasta')];
  if (from !== undefined && to !== undefined && to < from) yield 'A-C8 PeriodoHasta: anterior a PeriodoDesde';

  const gross = idDoc.text('MntBruto');
  if (gross === '2') yield 'A-C10 MntBruto: 2 es solo para e-Boleta';
  const isSmallTaxpayer = special === '2' || special === '3' || special === '4';
  if ((gross === '3') !== isSmallTaxpayer) yield 'A-C10 MntBruto: 3 si y solo si CAEEspecial es 2, 3 o 4';
  if (idDoc.has('IVAalDia') && (special === '3' || special === '4'))
    yield 'A-C17 IVAalDia: no va con CAEEspecial 3 o 4';
  if ((special === '1') !== caeData.has('CausalCAEEsp'))
    yield 'G-C6 CausalCAEEsp: si y solo si CAEEspecial es 1';

  const mode = idDoc.text('ModVenta');
  if (mode === undefined && receipt.type === 121) yield 'A-C14 ModVenta: obligatorio en 121';
  if (mode !== undefined && !SALE_MODES[receipt.family]?.includes(mode))
    yield `A-C14 ModVenta: ${mode} no corresponde al tipo`;
  if (!isRuc(receipt.issuer.text('RUCEmisor') ?? '')) yield 'A-C40 RUCEmisor: dígito verificador';

  if (idDoc.has('IndCobPropia')) {
    if (![101, 111].includes(receipt.type)) yield `A-C20 IndCobPropia: no corresponde a ${receipt.type}`;
    const billable = receipt.items.some((item) => !['6', '7'].includes(item.text('IndFact') ?? ''));
    if (billable) yield 'A-C20 IndCobPropia: solo admite líneas con IndFact 6 o 7';
    if (receipt.globals.length > 0) yield 'A-C20 IndCobPropia: no admite zona D';
    if (!receipt.totals.has('MontoNF')) yield 'A-C20 IndCobPropia: falta MontoNF';
    if (receipt.references.length === 0) yield 'A-C20 IndCobPropia: falta la zona de referencia';
  }
}

/**
 * Faults of the receiver (docs/authority/receipts.md#who-must-be-named, docs/authority/codes.md#receiver-documents).
 */
export function* faultsOfReceiver(receipt: ParsedReceipt): Generator<string> {
  const { receiver, idDoc } = receipt;
  if (receiver) yield* faultsOfIdentity(receiver);
  if (idDoc.text('SecProf') === '1') return; // professional secrecy lifts the duties that follow

  const identified = receiver !== null && (receiver.has('DocRecep') || receiver.has('DocRecepExt'));
  const needs: Record<ParsedReceipt['family'], readonly string[]> = {
    ticket: [],
    invoice: ['RznSocRecep', 'DirRecep', 'CiudadRecep'],
    export: ['RznSocRecep', 'DirRecep', 'CiudadRecep', 'DeptoRecep', 'PaisRecep'],
  };
  for (const name of needs[receipt.family])
    if (!receiver?.has(name)) yield `A Receptor/${name}: obligatorio en ${receipt.type}`;
  if (receipt.family === 'invoice' && !identified) yield 'A-C62 DocRecep: el RUC del receptor es obligatorio';
  if (receipt.family === 'ticket' && !identified) {
    if (isAboveThreshold(receipt)) yield 'A-C60 Receptor: obligatorio, el neto supera 5.000 UI';
    if (receipt.totals.all('RetencPercep').length > 0) yield 'A-C60 Receptor: obligatorio, hay retenciones';
  }
}

function* faultsOfIdentity(receiver: Zone): Generator<string> {
  const kind = receiver.text('TipoDocRecep');
  const country = receiver.text('CodPaisRecep');
  const local = receiver.text('DocRecep');
  const foreign = receiver.text('DocRecepExt');
  if (receiver.tree?.children.length === 0) yield 'A Receptor: vacío';
  if (kind === undefined) {
    if (local !== undefined || foreign !== undefined) yield 'A-C60 TipoDocRecep: falta';
    return;
  }
  if (country === undefined) yield 'A-C61 CodPaisRecep: falta';
  if (local !== undefined && foreign !== undefined) yield 'A-C62 DocRecep y DocRecepExt a la vez';
  if (['1', '2', '3'].includes(kind)) {
    if (local === undefined) yield 'A-C62 DocRecep: falta';
    if (country !== 'UY') yield 'A-C61 CodPaisRecep: debe ser UY';
    if (kind === '2' && !isRuc(local ?? '')) yield 'A-C62 DocRecep: RUC con dígito verificador incorrecto';
    if (kind === '3' && !isIdentityCard(local ?? ''))
      yield 'A-C62 DocRecep: C.I. con dígito verificador incorrecto';
  } else {
    if (foreign === undefined) yield 'A-C62.1 DocRecepExt: falta';
    if (kind === '6' && !['AR', 'BR', 'CL', 'PY'].includes(country ?? ''))
      yield 'A-C61 CodPaisRecep: DNI solo de AR, BR, CL o PY';
  }
}

function isAboveThreshold({ totals, idDoc }: ParsedReceipt): boolean {
  const net = sumOf(NET_ELEMENTS.map((name) => totals.amount(name)));
  const inPesos = totals.has('TpoCambio') ? net.times(totals.amount('TpoCambio')) : net;
  const year = Number((idDoc.text('FchEmis') ?? '').slice(0, 4));
  return inPesos.gt(RECEIVER_THRESHOLD_UI.times(uiValue(year)));
}
