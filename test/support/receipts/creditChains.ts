import { expect } from '@jest/globals';
import Big from 'big.js';
import fc from 'fast-check';
import type { CfeContent, CfeDocument } from '../../../src/domain/receipts/cfeDocument.ts';
import { readCfeRequest } from '../../../src/domain/receipts/cfeReading.ts';
import { checkCfe } from '../../../src/domain/receipts/cfeRules.ts';
import { CFE_TYPES } from '../../../src/domain/receipts/cfeTypes.ts';
import {
  type CountedNote,
  type Figures,
  figuresLeft,
  isUsedUp,
  type NoteScope,
} from '../../../src/domain/receipts/credit/creditLeft.ts';
import { readNoteScope, writeCreditNote } from '../../../src/domain/receipts/credit/creditNote.ts';
import { validRequest } from '../arbitraries/cfeRequests.ts';
import { contentOf, TODAY } from './randomReceipts.ts';

const UI_VALUE = { year: 2026, value: '6.4208', estimate: true } as const;
const FACTS = { emissionDate: TODAY, paymentMethod: undefined, reason: 'Devolución', branch: undefined };

const step = fc.record({
  of: fc.constantFrom('percent', 'amount', 'count', 'lineAmount'),
  share: fc.integer({ min: 1, max: 9_999 }),
  lines: fc.array(fc.nat(7), { minLength: 1, maxLength: 4 }),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Each note with OTHER_RATE lines has a cent of their VAT: a few cents are not enough for several (docs/contract.md#crediting). */
function isDivisible(body: unknown): boolean {
  const { header } = body as { header: { totals: { tax_other_amount?: unknown } } };
  const vat = header.totals.tax_other_amount;
  return vat === undefined || Number(vat) === 0 || Number(vat) >= 0.2;
}

/** A receipt, and parts of it that are credited one after another. */
export const creditChains = fc.record({
  body: fc
    .constantFrom('ETICKET' as const, 'EFACTURA' as const, 'EFACTURA_EXPORT' as const)
    .chain((type) => validRequest(type, { today: TODAY }))
    .filter(isDivisible),
  steps: fc.array(step, { maxLength: 5 }),
});

/** The content of a receipt as it is stored, with its number. */
export const storedReceipt = (body: Parameters<typeof contentOf>[0]): CfeDocument => ({
  ...contentOf(body),
  issuer: { rut: '', legalName: '', branch: 1, address: '', city: '', department: '' },
  serie: 'A',
  numero: 1,
  cae: { authorizationNumber: '', numberStart: 1, numberEnd: 2, expirationDate: TODAY },
  signedAt: '',
});

/** Credits a receipt in steps, those that are refused left out, then all that is left. Returns the contents of the notes. */
export function creditInSteps(original: CfeDocument, steps: readonly Step[]): CfeContent[] {
  const counted: CountedNote[] = [];
  const contents: CfeContent[] = [];
  const left = () => figuresLeft(original, counted, TODAY);
  const issue = (wish: NoteScope) => {
    const { content, note } = issueNote(original, left(), wish);
    contents.push(content);
    counted.push(note);
  };
  for (const one of steps) {
    const wish = readNoteScope(requestOf(one, left()), original, left(), TODAY);
    if (wish.ok) issue(wish.value);
  }
  if (!isUsedUp(left())) issue({ kind: 'all' });
  expect(isUsedUp(left())).toBe(true);
  return contents;
}

/** Issues a note as the service does; the rules of every note judge it. */
function issueNote(original: CfeDocument, left: Figures, wish: NoteScope) {
  const cfeId = `${CFE_TYPES[original.type].code}-1`;
  const { body, credited } = writeCreditNote(original, left, wish, { ...FACTS, cfeId });
  const document = { document: original, status: 'ACCEPTED', reportOnly: false, credited: '0' } as const;
  const checked = checkCfe(readCfeRequest(body, TODAY), {
    today: TODAY,
    uiValue: UI_VALUE,
    lastRate: null,
    originals: new Map([[cfeId, document]]),
    issuedHere: new Map(),
    isComputed: true,
  });
  if (!checked.ok) throw new Error(JSON.stringify([checked.faults, wish, left, original.totals]));
  const { content } = checked;
  if (wish.kind === 'pay') expect(content.totals.pay).toBe(wish.amount.toFixed(2));
  return { content, note: { credited, document: content } };
}

function requestOf({ of, share, lines }: Step, left: Figures) {
  const part = (whole: Big, decimals: number) => whole.times(share).div(10_000).round(decimals, Big.roundUp);
  if (of === 'percent') return { percent: part(Big(100), 2) };
  if (of === 'amount') return { amount: part(left.pay, 2) };
  return {
    lines: [...new Set(lines)].map((index) => ({
      line_number: index + 1,
      ...(of === 'count'
        ? { count: part(left.counts[index] ?? Big(0), 0) }
        : { amount: part(left.amounts[index] ?? Big(0), 2) }),
    })),
  };
}
