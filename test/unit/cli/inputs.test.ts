import { expect, test } from '@jest/globals';
import { Since } from '../../../src/cli/inputs.ts';

test.each([
  ['2026-11-20', '2026-11-20T03:00:00.000Z'],
  ['2026-11-20T15:00:00Z', '2026-11-20T15:00:00.000Z'],
  ['2026-11-20T09:00:00-03:00', '2026-11-20T12:00:00.000Z'],
])('--since %s begins at %s: a day is one in Montevideo', (text, begins) => {
  expect(Since.parse(text)).toEqual(new Date(begins));
});
