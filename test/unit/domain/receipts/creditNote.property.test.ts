import { expect, test } from '@jest/globals';
import Big from 'big.js';
import fc from 'fast-check';
import type { Totals } from '../../../../src/domain/receipts/cfeDocument.ts';
import { figuresLeft, takeShare } from '../../../../src/domain/receipts/credit/creditLeft.ts';
import { creditChains, creditInSteps, storedReceipt } from '../../../support/receipts/creditChains.ts';
import { TODAY } from '../../../support/receipts/randomReceipts.ts';

const SUMS = [
  'exempt',
  'exported',
  'minimumNet',
  'minimumVat',
  'basicNet',
  'basicVat',
  'total',
  'perceived',
  'suspended',
  'otherNet',
  'otherVat',
  'nonBillable',
  'pay',
] as const satisfies readonly (keyof Totals)[];

test('notes of parts, until nothing is left, add up to their receipt in every total', () => {
  let notes = 0;
  fc.assert(
    fc.property(creditChains, ({ body, steps }) => {
      const original = storedReceipt(body);
      const contents = creditInSteps(original, steps);
      for (const name of SUMS) {
        const sum = contents.reduce((all, { totals }) => all.plus(totals[name]), Big(0));
        expect([name, sum.toFixed(2)]).toEqual([name, Big(original.totals[name]).toFixed(2)]);
      }
      for (const { totals, pricesIncludeVat } of contents) {
        const isTaxed = !Big(totals.minimumVat).eq(0) || !Big(totals.basicVat).eq(0);
        if (isTaxed) expect(pricesIncludeVat).toBe(original.pricesIncludeVat);
      }
      notes += contents.length;
    }),
    { numRuns: 150 },
  );
  expect(notes).toBeGreaterThan(200);
});

test('one note of all has the lines and adjustments of its receipt', () => {
  fc.assert(
    fc.property(creditChains, ({ body }) => {
      const original = storedReceipt(body);
      const [note, ...others] = creditInSteps(original, []);
      expect(others).toEqual([]);
      expect(note?.lines).toEqual(original.lines);
      expect(note?.adjustments).toEqual(original.adjustments);
      expect(note?.totals).toEqual(original.totals);
    }),
    { numRuns: 30 },
  );
});

test('a note with lines of its own takes of every line in proportion; one of too much leaves nothing', () => {
  fc.assert(
    fc.property(creditChains, fc.integer({ min: 1, max: 120 }), ({ body }, percent) => {
      const original = storedReceipt(body);
      const pay = Big(original.totals.pay);
      fc.pre(pay.gte(1));
      const amount = pay.times(percent).div(100).round(2);
      const left = figuresLeft(original, [{ credited: null, pay: amount }], TODAY);
      const rest = percent < 100 ? pay.minus(amount) : Big(0);
      expect(left.pay.toFixed(2)).toBe(rest.toFixed(2));
      const { figures } = takeShare(original, left, { kind: 'all' }, TODAY);
      expect(figures.pay.toFixed(2)).toBe(rest.toFixed(2));
      if (percent >= 100) expect(left.amounts.every((one) => one.eq(0))).toBe(true);
    }),
    { numRuns: 50 },
  );
});
