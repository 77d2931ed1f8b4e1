import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { CFE_TYPE_NAMES } from '../../../../src/domain/receipts/cfeTypes.ts';
import { completeRequest } from '../../../../src/domain/receipts/preview.ts';
import { canonicalNumber, JsonNumber } from '../../../../src/domain/values/decimal.ts';
import { validRequest } from '../../../support/arbitraries/cfeRequests.ts';
import { recompute } from '../../../support/receipts/arithmetic.ts';
import { get, type JsonObject, num } from '../../../support/receipts/exactJson.ts';

const TODAY = '2026-11-28';
const PLAIN = CFE_TYPE_NAMES.filter((type) => !/_N[CD]$/.test(type));

/** The request without what a preview computes. */
function stripped(body: JsonObject): JsonObject {
  const header = body['header'] as JsonObject;
  const { currency, exchange_rate, tax_other_amount } = header['totals'] as JsonObject;
  const totals: JsonObject = { currency: currency ?? '', exchange_rate: exchange_rate ?? num(1) };
  if (tax_other_amount !== undefined) totals['tax_other_amount'] = tax_other_amount;
  const details = (body['details'] as JsonObject[]).map((line) =>
    Object.fromEntries(Object.entries(line).filter(([name]) => name !== 'item_amount')),
  );
  return { ...body, header: { ...header, totals }, details };
}

const cents = (value: unknown): bigint => {
  if (!(value instanceof JsonNumber)) return 0n;
  const [whole = '', fraction = ''] = value.text.split('.');
  return BigInt(whole + fraction.padEnd(2, '0'));
};

test('a request without amounts gets those of a computation in whole numbers', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...PLAIN).chain((type) => validRequest(type, { today: TODAY })),
      fc.constantFrom('net' as const, 'gross' as const),
      (body, prices) => {
        const completed = completeRequest(stripped(body), prices);
        if (!completed.ok) throw new Error(JSON.stringify(completed.faults));
        const whole = completed.value as JsonObject;
        const totals = get(whole, '/header/totals') as JsonObject;
        const again = recompute(whole);
        const taxed = again.minimumNet + again.basicNet;
        if (taxed !== 0n)
          expect(again.gross).toBe(prices === 'gross' && again.minimumVat + again.basicVat !== 0n);
        expect([cents(totals['total_amount']), cents(totals['pay_amount'])]).toEqual([
          again.total,
          again.pay,
        ]);
        expect(
          (body['details'] as JsonObject[]).map((line) => canonicalNumber(line['item_amount'] as JsonNumber)),
        ).toEqual(
          (whole['details'] as JsonObject[]).map((line) =>
            canonicalNumber(line['item_amount'] as JsonNumber),
          ),
        );
      },
    ),
    { numRuns: 300 },
  );
});
