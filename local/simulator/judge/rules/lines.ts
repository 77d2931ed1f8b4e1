import Big from 'big.js';
import { isGtin } from '../../checkDigits.ts';
import type { ParsedReceipt, Zone } from '../reading.ts';
import { LINE_TOLERANCE } from './constants.ts';

const TAXED = ['1', '2', '3', '4', '11', '12'];
const GTIN_LENGTHS: Readonly<Record<string, number>> = { GTIN8: 8, GTIN12: 12, GTIN13: 13, GTIN14: 14 };

/**
 * Faults of the lines, and of the zones that are numbered like them (docs/authority/receipts.md#lines,
 * docs/authority/receipts.md#other-zones).
 */
export function* faultsOfLines(receipt: ParsedReceipt): Generator<string> {
  for (const [index, item] of receipt.items.entries()) {
    const at = `B línea ${index + 1}`;
    if (Number(item.text('NroLinDet')) !== index + 1) yield `${at}: NroLinDet debe ser ${index + 1}`;
    yield* faultsOfIndicator(receipt, item, at);
    yield* faultsOfAmount(item, at);
    for (const code of item.all('CodItem')) {
      const length = GTIN_LENGTHS[code.text('TpoCod') ?? ''];
      if (length !== undefined && !isGtin(code.text('Cod') ?? '', length))
        yield `${at}: código GTIN con dígito verificador incorrecto`;
    }
    if (item.has('IndAgenteResp') && item.all('RetencPercep').length === 0)
      yield `${at}: IndAgenteResp sin RetencPercep`;
  }
  yield* outOfSequence(receipt.globals, 'NroLinDR', 'D');
  yield* outOfSequence(receipt.payments, 'NroLinMP', 'E');
  const touched = receipt.globals.map((row) => row.text('IndFactDR'));
  if (receipt.family === 'export' && touched.some((code) => !['6', '7', '10'].includes(code ?? '')))
    yield 'D IndFactDR: no corresponde a exportación';
}

function* faultsOfIndicator(receipt: ParsedReceipt, item: Zone, at: string): Generator<string> {
  const indicator = item.text('IndFact') ?? '';
  const special = receipt.caeData.text('CAEEspecial');
  if (receipt.idDoc.text('MntBruto') === '3' && TAXED.includes(indicator))
    yield `${at}: IndFact ${indicator} no va con MntBruto 3`;
  if (indicator === '16' && !['2', '3', '4'].includes(special ?? ''))
    yield `${at}: IndFact 16 solo con CAEEspecial 2, 3 o 4`;
  if (special === '1' && TAXED.includes(indicator) && indicator !== '1')
    yield `${at}: IndFact ${indicator} no va con CAEEspecial 1`;
}

function* faultsOfAmount(item: Zone, at: string): Generator<string> {
  const isFree = item.text('IndFact') === '5';
  const unitPrice = item.amount('PrecioUnitario');
  const amount = item.amount('MontoItem');
  if (isFree && !unitPrice.eq(0)) yield `${at}: PrecioUnitario debe ser 0 con IndFact 5`;
  if (!isFree && unitPrice.eq(0)) yield `${at}: PrecioUnitario debe ser mayor que 0`;
  if (item.has('DescuentoPct') && !item.has('DescuentoMonto')) yield `${at}: falta DescuentoMonto`;
  if (item.has('RecargoPct') && !item.has('RecargoMnt')) yield `${at}: falta RecargoMnt`;
  const expected = isFree
    ? new Big(0)
    : item
        .amount('Cantidad')
        .times(unitPrice)
        .minus(item.amount('DescuentoMonto'))
        .plus(item.amount('RecargoMnt'));
  if (amount.minus(expected).abs().gt(LINE_TOLERANCE))
    yield `${at}: MontoItem, se esperaba ${expected.toFixed(2)} y se informó ${amount.toFixed(2)}`;
}

function* outOfSequence(rows: readonly Zone[], name: string, zone: string): Generator<string> {
  for (const [index, row] of rows.entries())
    if (Number(row.text(name)) !== index + 1) yield `${zone} ${name}: debe ser ${index + 1}`;
}
