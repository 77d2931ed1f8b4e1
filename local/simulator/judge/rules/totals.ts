import Big from 'big.js';
import type { ParsedReceipt, Zone } from '../reading.ts';
import { GROSS_BASE_TOLERANCE, NET_ELEMENTS, VAT_ELEMENTS, VAT_RATES, VAT_TOLERANCE } from './constants.ts';
import { sumOf, sumOfLines, toCents } from './sums.ts';

/** Faults of the totals: every sum of zone A computed from the lines (docs/authority/amounts.md). */
export function* faultsOfTotals(receipt: ParsedReceipt): Generator<string> {
  const { totals } = receipt;
  const isPeso = totals.text('TpoMoneda') === 'UYU';
  if (isPeso && totals.has('TpoCambio')) yield 'A-C111 TpoCambio: no va con UYU';
  if (!isPeso && !totals.has('TpoCambio')) yield 'A-C111 TpoCambio: obligatorio si la moneda no es UYU';

  if (Number(totals.text('CantLinDet')) !== receipt.items.length)
    yield `A-C126 CantLinDet: ${totals.text('CantLinDet')} y hay ${receipt.items.length} líneas`;
  yield* differs(totals, 'MntNoGrv', sumOfLines(receipt, 1).plus(sumOfLines(receipt, 16)));
  yield* differs(totals, 'MntExpoyAsim', sumOfLines(receipt, 10));
  yield* differs(totals, 'MntImpuestoPerc', sumOfLines(receipt, 11));
  yield* differs(totals, 'MntIVaenSusp', sumOfLines(receipt, 12));
  yield* faultsOfVat(receipt);

  const parts = [...NET_ELEMENTS, ...VAT_ELEMENTS].map((name) => totals.amount(name));
  yield* differs(totals, 'MntTotal', sumOf(parts));
  yield* faultsOfWithholdings(receipt);
  const nonBillable = sumOfLines(receipt, 6).minus(sumOfLines(receipt, 7));
  yield* differs(totals, 'MontoNF', nonBillable);
  const payable = sumOf([totals.amount('MntTotal'), totals.amount('MntTotRetenido'), nonBillable]);
  const mayBeZero = payable.lt(0) && totals.amount('MntPagar').eq(0); // A-C130: below zero, 0 will do
  if (!mayBeZero) yield* differs(totals, 'MntPagar', payable);
}

function* faultsOfVat(receipt: ParsedReceipt): Generator<string> {
  const { totals } = receipt;
  const isGross = receipt.idDoc.text('MntBruto') === '1';
  for (const { indFact, percent, base, rate, vat } of VAT_RATES) {
    const sum = sumOfLines(receipt, indFact);
    const expected = isGross ? toCents(sum.div(new Big(percent).div(100).plus(1))) : sum;
    yield* differs(totals, base, expected, isGross ? GROSS_BASE_TOLERANCE : new Big(0));
    const net = totals.amount(base);
    yield* differs(totals, vat, toCents(net.times(percent).div(100)), VAT_TOLERANCE);
    if (net.gt(0) && !totals.has(rate)) yield `A ${rate}: falta`;
    if (totals.has(rate) && !totals.amount(rate).eq(percent)) yield `A ${rate}: debe ser ${percent}.000`;
  }
  const other = totals.amount('MntNetoIVAOtra');
  yield* differs(totals, 'MntNetoIVAOtra', sumOfLines(receipt, 4));
  if (other.gt(0) !== totals.amount('MntIVAOtra').gt(0))
    yield 'A-C123 MntIVAOtra: mayor que cero si y solo si MntNetoIVAOtra lo es';
}

/** Codes that begin 2181 are fiscal credits, all others withholdings (docs/authority/amounts.md#sums). */
function* faultsOfWithholdings(receipt: ParsedReceipt): Generator<string> {
  const rows = receipt.items.flatMap((item) => item.all('RetencPercep'));
  const sum = (isCredit: boolean) =>
    sumOf(
      rows
        .filter((row) => (row.text('CodRet') ?? '').startsWith('2181') === isCredit)
        .map((row) => row.amount('ValRetPerc')),
    );
  yield* differs(receipt.totals, 'MntTotRetenido', sum(false));
  yield* differs(receipt.totals, 'MntTotCredFisc', sum(true));
  const stated = sumOf(receipt.totals.all('RetencPercep').map((row) => row.amount('ValRetPerc')));
  if (!stated.eq(sum(false).plus(sum(true)))) yield 'A-C128 RetencPercep: no suma lo informado en las líneas';
}

function* differs(totals: Zone, name: string, expected: Big, tolerance = new Big(0)): Generator<string> {
  const found = totals.amount(name);
  if (found.minus(expected).abs().lte(tolerance)) return;
  yield `A ${name}: se esperaba ${expected.toFixed(2)} y se informó ${found.toFixed(2)}`;
}
