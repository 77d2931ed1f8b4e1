import { describe, expect, test } from '@jest/globals';
import { readExamples } from '../../../src/api/openapi/examples.ts';
import { recordExamples } from '../../../tools/generate/examples.ts';

/** Moments, days, ids and ports: another at every recording. */
const MASKS: readonly (readonly [pattern: RegExp, mask: string])[] = [
  [/\b[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}\b/g, 'uuid'],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, 'moment'],
  [/\d{4}-\d\d-\d\d/g, 'day'],
  [/127\.0\.0\.1:\d+/g, '127.0.0.1:port'],
];
/** Made of keys, signatures and chance, by the field. */
const BY_CHANCE: Readonly<Record<string, RegExp>> = {
  access_token: /.+/,
  cert_b64: /.+/,
  cae_b64: /.+/,
  security_code: /.+/,
  receipt_url: /[\w-]+$/,
  qr_url: /\d+(\.\d+)?,[\d/]+,[^,]+$/,
};

/** What stays of an example from one recording to the next: its fields, the kinds of its values, enums and texts. */
function shapeOf(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) return value.map((one) => shapeOf(one));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shapeOf(one, name)]));
  if (typeof value === 'number') return 'number';
  if (typeof value !== 'string') return value;
  const steady = value.replace(BY_CHANCE[key] ?? /^(?!)/, 'chance');
  return MASKS.reduce((text, [pattern, mask]) => text.replace(pattern, mask), steady);
}

describe('the examples of openapi.json', () => {
  test('are what a stack answers today: else `npm run generate -- --examples`', async () => {
    const today = shapeOf(await recordExamples());
    expect(today).toEqual(shapeOf(readExamples()));
  }, 300_000);

  test.each<[what: string, before: unknown, now: unknown]>([
    ['a field is gone', { a: 1, b: 2 }, { a: 1 }],
    ['a field is new', [{ a: 1 }], [{ a: 1, b: null }]],
    ['a value has another kind', { a: 1 }, { a: '1' }],
    ['an enum has another value', { status: 'SENT' }, { status: 'PENDING' }],
    ['a text says something else', { message: 'is required' }, { message: 'is missing' }],
    ['an address leads elsewhere', { receipt_url: 'http://a/r/xyz' }, { receipt_url: 'http://a/x/xyz' }],
  ])('are held against them: %s', (_, before, now) => {
    expect(shapeOf(now)).not.toEqual(shapeOf(before));
  });

  test('may have been recorded at another time, with other ids', () => {
    const one = {
      id: '0c0e1ab1-0000-4000-8000-000000000005',
      at: '2026-11-20T15:00:00.000Z',
      day: '2026-11-20',
      receipt_url: 'http://127.0.0.1:3000/r/cHFin9n9bjF9fF9mbIiQQ',
      numero: 7,
    };
    const other = {
      id: 'f4f7df10-0000-4000-8000-00000000000a',
      at: '2027-01-02T03:04:05Z',
      day: '2027-01-02',
      receipt_url: 'http://127.0.0.1:41234/r/-uN9mUnvKQlqwN9fGDw',
      numero: 8,
    };
    expect(shapeOf(other)).toEqual(shapeOf(one));
  });
});
