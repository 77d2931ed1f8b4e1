import { describe, expect, test } from '@jest/globals';
import { readExtra } from '../../../../src/domain/receipts/cfeExtra.ts';

const read = (text: string | undefined) => readExtra(text);
const faults = (text: string) => read(text).faults.map(({ path, code }) => `${path} ${code}`);

describe('extra', () => {
  test('that is left out says nothing', () => {
    expect(read(undefined)).toMatchObject({ values: {}, faults: [] });
  });

  test('gives the keys that mean something, codes as number or digits', () => {
    expect(read('{"sale_mode": "90", "transport": 8, "adenda": "uno\\ndos"}')).toMatchObject({
      values: { sale_mode: 90, transport: 8, adenda: 'uno\ndos' },
      faults: [],
    });
  });

  test('keeps the other keys, with numbers that binary cannot hold as their text', () => {
    expect(read('{"order": {"id": 12345678901234567890, "lines": [1, 2.50, true, null]}}').unknown).toEqual({
      order: { id: '12345678901234567890', lines: [1, '2.50', true, null] },
    });
  });

  test.each<[string, string[]]>([
    ['', ['/extra body.malformed']],
    ['{', ['/extra body.malformed']],
    ['[]', ['/extra extra.not_object']],
    ['"text"', ['/extra extra.not_object']],
    ['null', ['/extra extra.not_object']],
    ['5', ['/extra extra.not_object']],
    ['{"adenda": null}', ['/extra/adenda body.null']],
    ['{"adenda": ""}', ['/extra/adenda text.empty']],
    ['{"adenda": "a\\tb"}', ['/extra/adenda text.control_character']],
    ['{"sale_condition": "FO"}', ['/extra/sale_condition body.not_one_of']],
    ['{"sale_mode": []}', ['/extra/sale_mode body.wrong_type']],
    ['{"sale_mode": "090"}', ['/extra/sale_mode body.not_one_of']],
    ['{"sale_mode": 1e1}', ['/extra/sale_mode body.not_one_of']],
    ['{"purchase_order": 4711}', ['/extra/purchase_order body.wrong_type']],
    ['{"mine": {"deep": "a\\u0000b"}}', ['/extra/mine/deep text.control_character']],
    ['{"mine": ["a\\ud800b"]}', ['/extra/mine/0 text.invalid_character']],
    ['{"a\\u0000b": 1}', ['/extra/a\u0000b text.control_character']],
    [
      '{"unit": "horas", "information": 1}',
      ['/extra/unit text.too_long', '/extra/information body.wrong_type'],
    ],
  ])('%j is refused with a pointer into it', (text, expected) => {
    expect(faults(text)).toEqual(expected);
  });

  describe('without a meaning of their own, keys have at most 16 KiB together', () => {
    /** Of so many bytes, written without spaces: two keys, of which one holds characters of two bytes. */
    const unknown = (bytes: number) => ({ a: 'ñ'.repeat(1_000), b: 'x'.repeat(bytes - 2_015) });
    const text = (bytes: number, more: object = {}) =>
      JSON.stringify({ ...unknown(bytes), ...more }, undefined, 2);

    test('16,384 bytes are, 16,385 are not; spaces between them do not count', () => {
      expect(new TextEncoder().encode(JSON.stringify(unknown(16_384)))).toHaveLength(16_384);
      expect(faults(text(16_384))).toEqual([]);
      expect(faults(text(16_385))).toEqual(['/extra extra.too_large']);
      expect(read(text(16_385)).unknown).toEqual({});
    });

    test('an adenda does not count, and keeps its own fault beside', () => {
      expect(faults(text(16_384, { adenda: 'ñ'.repeat(10_000), information: 'y'.repeat(100) }))).toEqual([]);
      expect(faults(text(16_385, { adenda: 'ñ'.repeat(10_001) }))).toEqual([
        '/extra/adenda text.too_long',
        '/extra extra.too_large',
      ]);
    });
  });

  test('tells which keys are sound beside those in fault', () => {
    const extra = read('{"unit": "horas", "sale_mode": 90}');

    expect(extra.values).toEqual({ sale_mode: 90 });
    expect([...extra.invalid]).toEqual(['unit']);
  });
});
