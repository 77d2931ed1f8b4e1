import Big from 'big.js';
import type { ReceiptPaper, Zone } from '../reading.ts';
import { GROSS_BASE_TOLERANCE, NET_ELEMENTS, VAT_ELEMENTS, VAT_RATES, VAT_TOLERANCE } from './constants.ts';
import { sumOf, sumOfLines, toCents } from './sums.ts';

/** Faults of the totals: every sum of zone A made anew from the lines (cfe-format.md §3, §3.6). */
export function* faultsOfTotals(paper: ReceiptPaper): Generator<string> {
  const { totals } = paper;
  const isPeso = totals.text('TpoMoneda') === 'UYU';
  if (isPeso && totals.has('TpoCambio')) yield 'A-C111 TpoCambio: no va con UYU';
  if (!isPeso && !totals.has('TpoCambio')) yield 'A-C111 TpoCambio: obligatorio si la moneda no es UYU';

  if (Number(totals.text('CantLinDet')) !== paper.items.length)
    yield `A-C126 CantLinDet: ${totals.text('CantLinDet')} y hay ${paper.items.length} líneas`;
  yield* differs(totals, 'MntNoGrv', sumOfLines(paper, 1).plus(sumOfLines(paper, 16)));
  yield* differs(totals, 'MntExpoyAsim', sumOfLines(paper, 10));
  yield* differs(totals, 'MntImpuestoPerc', sumOfLines(paper, 11));
  yield* differs(totals, 'MntIVaenSusp', sumOfLines(paper, 12));
  yield* faultsOfVat(paper);

  const parts = [...NET_ELEMENTS, ...VAT_ELEMENTS].map((name) => totals.amount(name));
  yield* differs(totals, 'MntTotal', sumOf(parts));
  yield* faultsOfWithholdings(paper);
  const nonBillable = sumOfLines(paper, 6).minus(sumOfLines(paper, 7));
  yield* differs(totals, 'MontoNF', nonBillable);
  const payable = sumOf([totals.amount('MntTotal'), totals.amount('MntTotRetenido'), nonBillable]);
  const mayBeZero = payable.lt(0) && totals.amount('MntPagar').eq(0); // A-C130: below zero, 0 will do
  if (!mayBeZero) yield* differs(totals, 'MntPagar', payable);
}

function* faultsOfVat(paper: ReceiptPaper): Generator<string> {
  const { totals } = paper;
  const isGross = paper.idDoc.text('MntBruto') === '1';
  for (const { indFact, percent, base, rate, vat } of VAT_RATES) {
    const sum = sumOfLines(paper, indFact);
    const expected = isGross ? toCents(sum.div(new Big(percent).div(100).plus(1))) : sum;
    yield* differs(totals, base, expected, isGross ? GROSS_BASE_TOLERANCE : new Big(0));
    const net = totals.amount(base);
    yield* differs(totals, vat, toCents(net.times(percent).div(100)), VAT_TOLERANCE);
    if (net.gt(0) && !totals.has(rate)) yield `A ${rate}: falta`;
    if (totals.has(rate) && !totals.amount(rate).eq(percent)) yield `A ${rate}: debe ser ${percent}.000`;
  }
  const other = totals.amount('MntNetoIVAOtra');
  yield* differs(totals, 'MntNetoIVAOtra', sumOfLines(paper, 4));
  if (other.gt(0) !== totals.amount('MntIVAOtra').gt(0))
    yield 'A-C123 MntIVAOtra: mayor que cero si y solo si MntNetoIVAOtra lo es';
}

/** Withholdings are what does not begin 2181; those that do are fiscal credits (§2.9, §3). */
function* faultsOfWithholdings(paper: ReceiptPaper): Generator<string> {
  const rows = paper.items.flatMap((item) => item.all('RetencPercep'));
  const sum = (isCredit: boolean) =>
    sumOf(
      rows
        .filter((row) => (row.text('CodRet') ?? '').startsWith('2181') === isCredit)
        .map((row) => row.amount('ValRetPerc')),
    );
  yield* differs(paper.totals, 'MntTotRetenido', sum(false));
  yield* differs(paper.totals, 'MntTotCredFisc', sum(true));
  const stated = sumOf(paper.totals.all('RetencPercep').map((row) => row.amount('ValRetPerc')));
  if (!stated.eq(sum(false).plus(sum(true)))) yield 'A-C128 RetencPercep: no suma lo informado en las líneas';
}

function* differs(totals: Zone, name: string, expected: Big, tolerance = new Big(0)): Generator<string> {
  const found = totals.amount(name);
  if (found.minus(expected).abs().lte(tolerance)) return;
  yield `A ${name}: se esperaba ${expected.toFixed(2)} y se informó ${found.toFixed(2)}`;
}
