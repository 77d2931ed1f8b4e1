import { expect, test } from '@jest/globals';
import { decodeCursor, encodeCursor } from '../../../../src/domain/values/cursor.ts';

const KEY = ['2026-11-22T14:05:09.123456Z', '0c0e1ab1-0000-4000-8000-000000000001'];

test('a cursor stands for its key, and is safe in an address', () => {
  const cursor = encodeCursor([...KEY, '“<&?#', '-12', '2026-11-22']);
  expect(encodeURIComponent(cursor)).toBe(cursor);
  expect(decodeCursor(cursor, ['moment', 'uuid', 'text', 'number', 'date'])).toEqual([
    ...KEY,
    '“<&?#',
    '-12',
    '2026-11-22',
  ]);
});

test.each([
  ['nothing', ''],
  ['no base64', '%%%'],
  ['no JSON', Buffer.from('{').toString('base64url')],
  ['no list', Buffer.from('{"0":"a"}').toString('base64url')],
  ['another list’s', encodeCursor(['a'])],
  ['numbers', Buffer.from('[1,2]').toString('base64url')],
  ['a moment that is none', encodeCursor(['2026-02-30T00:00:00Z', KEY[1] ?? ''])],
  ['a moment without zone', encodeCursor(['2026-02-20T00:00:00', KEY[1] ?? ''])],
  ['an id that is none', encodeCursor([KEY[0] ?? '', "1' or '1'='1"])],
  ['too much', 'A'.repeat(5_000)],
])('%s is no cursor', (_, text) => {
  expect(decodeCursor(text, ['moment', 'uuid'])).toBeNull();
});

test('no value that PostgreSQL cannot take', () => {
  expect(decodeCursor(encodeCursor(['a\0']), ['text'])).toBeNull();
  expect(decodeCursor(encodeCursor(['9'.repeat(40)]), ['number'])).toBeNull();
  expect(decodeCursor(encodeCursor(['2026-13-01']), ['date'])).toBeNull();
});

test('moments as PostgreSQL writes them', () => {
  for (const moment of ['2026-11-22 14:05:09.1+00', '2026-11-22T14:05:09-03:00', '2026-11-22 14:05:09+05:30'])
    expect(decodeCursor(encodeCursor([moment]), ['moment'])).toEqual([moment]);
});
