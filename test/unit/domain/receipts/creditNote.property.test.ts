import { expect, test } from '@jest/globals';
import Big from 'big.js';
import fc from 'fast-check';
import type { CfeContent, CfeDocument, Totals } from '../../../../src/domain/receipts/cfeDocument.ts';
import { readCfeRequest } from '../../../../src/domain/receipts/cfeReading.ts';
import { checkCfe } from '../../../../src/domain/receipts/cfeRules.ts';
import { type CountedNote, isUsedUp, leftOf, type Wish } from '../../../../src/domain/receipts/creditLeft.ts';
import { readWish, writeCreditNote } from '../../../../src/domain/receipts/creditNote.ts';
import { validRequest } from '../../../support/arbitraries/cfeRequests.ts';

const TODAY = '2026-11-28';
const UI = { year: 2026, value: '6.4208', estimate: false };

function originalOf(body: unknown): CfeDocument {
  const checked = checkCfe(readCfeRequest(body, TODAY), { today: TODAY, uiValue: UI, original: undefined });
  if (!checked.ok) throw new Error(JSON.stringify(checked.faults));
  const issuer = { rut: '', legalName: '', branch: 1, address: '', city: '', department: '' };
  const cae = { authorizationNumber: '', numberStart: 1, numberEnd: 2, expirationDate: TODAY };
  return { ...checked.content, issuer, serie: 'A', numero: 1, cae, signedAt: '' };
}

const FACTS = {
  cfeId: '101-1',
  emissionDate: TODAY,
  paymentMethod: undefined,
  reason: 'x',
  branch: undefined,
};
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

interface Issued {
  readonly note: CountedNote;
  readonly content: CfeContent;
}

/** Issues the note of a wish as the service does, and judges it by the rules of every note. */
function issue(
  original: CfeDocument,
  before: readonly Issued[],
  wish: (left: ReturnType<typeof leftOf>) => Wish,
): Issued {
  const left = leftOf(
    original,
    before.map(({ note }) => note),
    TODAY,
  );
  const asked = wish(left);
  const cfeId = `${{ ETICKET: 101, EFACTURA: 111 }[original.type as string] ?? 121}-1`;
  const { body, credited } = writeCreditNote(original, left, asked, { ...FACTS, cfeId });
  const credit = before.reduce((sum, { content }) => sum.plus(content.totals.pay), Big(0)).toFixed();
  const context = { document: original, status: 'ACCEPTED', credited: credit } as const;
  const reading = readCfeRequest(body, TODAY);
  const checked = checkCfe(reading, { today: TODAY, uiValue: UI, original: context });
  if (!checked.ok) throw new Error(JSON.stringify([checked.faults, asked, left, original.totals]));
  const { content } = checked;
  if (asked.of === 'pay') expect(content.totals.pay).toBe(asked.amount.toFixed(2));
  return { note: { credited, document: content }, content };
}

const step = fc.record({
  of: fc.constantFrom('percent', 'amount', 'count', 'lineAmount'),
  share: fc.integer({ min: 1, max: 9_999 }),
  lines: fc.array(fc.nat(7), { minLength: 1, maxLength: 4 }),
});

test('notes of parts, until nothing is left, add up to their original in every total', () => {
  let partial = 0;
  fc.assert(
    fc.property(
      fc
        .constantFrom('ETICKET' as const, 'EFACTURA' as const, 'EFACTURA_EXPORT' as const)
        .chain((type) => validRequest(type, { today: TODAY })),
      fc.array(step, { maxLength: 5 }),
      (body, steps) => {
        const original = originalOf(body);
        const notes: Issued[] = [];
        for (const { of, share, lines } of steps) {
          const left = leftOf(
            original,
            notes.map(({ note }) => note),
            TODAY,
          );
          const part = (whole: Big, decimals: number) =>
            whole.times(share).div(10_000).round(decimals, Big.roundUp);
          const asked =
            of === 'percent'
              ? { percent: part(Big(100), 2) }
              : of === 'amount'
                ? { amount: part(left.pay, 2) }
                : {
                    lines: [...new Set(lines)].map((index) => ({
                      line_number: index + 1,
                      ...(of === 'count'
                        ? { count: part(left.counts[index] ?? Big(0), 0) }
                        : { amount: part(left.amounts[index] ?? Big(0), 2) }),
                    })),
                  };
          const wish = readWish(asked, original, left);
          if (!wish.ok) continue;
          notes.push(issue(original, notes, () => wish.value));
          partial += 1;
        }
        const left = leftOf(
          original,
          notes.map(({ note }) => note),
          TODAY,
        );
        if (!isUsedUp(left)) notes.push(issue(original, notes, () => ({ of: 'all' })));
        expect(
          isUsedUp(
            leftOf(
              original,
              notes.map(({ note }) => note),
              TODAY,
            ),
          ),
        ).toBe(true);
        for (const name of SUMS) {
          const sum = notes.reduce((all, { content }) => all.plus(content.totals[name]), Big(0));
          expect([name, sum.toFixed(2)]).toEqual([name, Big(original.totals[name]).toFixed(2)]);
        }
        for (const { content } of notes) {
          const { minimumVat, basicVat } = content.totals;
          const isTaxed = !Big(minimumVat).eq(0) || !Big(basicVat).eq(0);
          if (isTaxed) expect(content.pricesIncludeVat).toBe(original.pricesIncludeVat);
        }
      },
    ),
    { numRuns: 150 },
  );
  expect(partial).toBeGreaterThan(60);
});
