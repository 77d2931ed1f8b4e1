import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { CFE_TYPE_NAMES, CFE_TYPES, type CfeType } from '../../../../src/domain/receipts/cfeTypes.ts';
import { JsonNumber } from '../../../../src/domain/values/decimal.ts';
import { familyOf, isNote, validOriginal, validRequest } from '../../../support/arbitraries/cfeRequests.ts';
import { MUTATIONS } from '../../../support/arbitraries/mutations.ts';
import { decimalText, recompute } from '../../../support/receipts/arithmetic.ts';
import {
  fromJson,
  type Json,
  type JsonObject,
  num,
  put,
  toJson,
} from '../../../support/receipts/exactJson.ts';
import { checkAll, given, originalOf, TODAY } from '../support.ts';

interface Sample {
  type: CfeType;
  body: JsonObject;
  original?: JsonObject;
}

/** Requests of a type, notes with the original that they correct. */
function samples(type: CfeType): fc.Arbitrary<Sample> {
  const wishes = { today: TODAY, foreign: true };
  if (!isNote(type)) return validRequest(type, wishes).map((body) => ({ type, body }));
  return validOriginal(type, wishes).chain((original) => {
    const cfeId = `${CFE_TYPES[familyOf(type)].code}-1`;
    const notes = validRequest(type, { ...wishes, original: { cfeId, body: original } });
    return notes.map((body) => ({ type, body, original }));
  });
}

const anySample = fc.oneof(...CFE_TYPE_NAMES.map(samples));

const judged = ({ original }: Sample, body: unknown) =>
  given(body, original ? { original: originalOf(original) } : {});

describe.each(CFE_TYPE_NAMES)('valid requests of type %s', (type) => {
  test('are taken, with totals as recomputed from the lines', () => {
    checkAll(samples(type), 150, (sample) => {
      const checked = judged(sample, sample.body);

      expect(checked).toMatchObject({ ok: true });
      if (!checked.ok) return;
      const sums = recompute(sample.body);
      const money = (cents: bigint) => decimalText(cents, 2);
      expect(checked.content.pricesIncludeVat).toBe(sums.gross);
      expect(checked.content.totals).toMatchObject({
        exempt: money(sums.exempt),
        exported: money(sums.exported),
        perceived: money(sums.perceived),
        suspended: money(sums.suspended),
        otherNet: money(sums.otherNet),
        otherVat: money(sums.otherVat),
        minimumNet: money(sums.minimumNet),
        minimumVat: money(sums.minimumVat),
        basicNet: money(sums.basicNet),
        basicVat: money(sums.basicVat),
        total: money(sums.total),
        nonBillable: money(sums.nonBillable),
        pay: money(sums.pay),
      });
    });
  });

  test('survive the way through JSON text, and their content survives being stored', () => {
    checkAll(samples(type), 40, (sample) => {
      const direct = judged(sample, sample.body);
      const through = judged(sample, fromJson(toJson(sample.body)));

      expect(through).toEqual(direct);
      if (direct.ok) expect(JSON.parse(JSON.stringify(direct.content))).toEqual(direct.content);
    });
  });
});

describe('a valid request with one fault', () => {
  test.each(MUTATIONS.map((mutation) => [mutation.name, mutation] as const))(
    '%s: is refused there and as that',
    (_, mutation) => {
      const fitting = anySample.filter(({ body }) => mutation.apply(body) !== undefined);
      checkAll(fitting, 12, (sample) => {
        const spoilt = mutation.apply(sample.body);
        const checked = judged(sample, spoilt?.body);

        const found = checked.ok ? [] : checked.faults.map(({ path, code }) => `${path} ${code}`);
        expect(found).toContain(`${spoilt?.path} ${spoilt?.code}`);
      });
    },
  );
});

/** Every place in a value, its own included. */
function pointersOf(value: Json, at = ''): string[] {
  const inner =
    typeof value === 'object' && value !== null && !(value instanceof JsonNumber)
      ? Object.entries(value)
      : [];
  return [at, ...inner.flatMap(([key, child]) => pointersOf(child, `${at}/${key}`))];
}

const junk: fc.Arbitrary<Json | undefined> = fc.oneof(
  fc.constantFrom<Json | undefined>(
    undefined,
    null,
    true,
    '',
    ' ',
    [],
    {},
    [[]],
    { '': {} },
    'x'.repeat(2000),
  ),
  fc.constantFrom('0', '-0', '1e5', '0.1e-3', '-1', '1E400', '99999999999999999999', '0.00000001').map(num),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.jsonValue({ maxDepth: 2 }).map((value) => fromJson(JSON.stringify(value))),
);

describe('a request with anything at all in one or two places', () => {
  test('is taken or refused with faults, never more, and every fault has a place and a sentence', () => {
    const spoilt = anySample.chain((sample) => {
      const places = pointersOf(sample.body).filter((place) => place !== '');
      return fc
        .array(fc.tuple(fc.constantFrom(...places), junk), { minLength: 1, maxLength: 2 })
        .map((changes) => ({ sample, changes }));
    });
    checkAll(spoilt, 600, ({ sample, changes }) => {
      let body = sample.body;
      for (const [place, value] of changes) {
        try {
          body = put(body, place, value);
        } catch {
          // The first change took away the place of the second.
        }
      }
      const checked = judged(sample, body);

      if (checked.ok) return;
      expect(checked.faults).not.toEqual([]);
      for (const fault of checked.faults) {
        expect(fault.path).toMatch(/^(\/|$)/);
        expect(fault.message).toMatch(/[.?]$/);
        expect(fault.message.length).toBeLessThan(1000);
      }
    });
  });
});
