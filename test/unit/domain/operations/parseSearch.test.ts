import { expect, test } from '@jest/globals';
import { parseSearch } from '../../../../src/domain/operations/parseSearch.ts';

test.each([
  ['A-1234', 'A', 1_234],
  ['A 1.234', 'A', 1_234],
  ['a1.234.567', 'A', 1_234_567],
  ['1.234', null, 1_234],
  ['9C 12', '9C', 12],
] as const)('%s is serie and number as printed', (text, serie, numero) => {
  expect(parseSearch(text)?.printed).toEqual({ serie, numero });
});

test.each(['A 1.23', 'A 1234.567', 'A .234', 'A 1.234.', 'A 1,234', '1.234.567.890'])(
  '%s is none',
  (text) => {
    expect(parseSearch(text)?.printed).toBeNull();
  },
);
