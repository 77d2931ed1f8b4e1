import { describe, expect, test } from '@jest/globals';
import { classifyUnclear, GENERAL_OUTCOMES, OUTCOMES } from '../../../src/dgi/outcomes.ts';

/** What each row does is shown by test/integration/dgi/outcomes.test.ts. */
describe('the table of outcomes', () => {
  test('an answer stands in one row of a situation', () => {
    for (const rows of [...Object.values(OUTCOMES), GENERAL_OUTCOMES]) {
      const keys = rows.flatMap(({ answers }): readonly string[] => answers);
      expect(keys).toEqual([...new Set(keys)]);
    }
  });

  test('whatever is stuck has a reason of its own', () => {
    const rows = [...Object.values(OUTCOMES).flat(), ...GENERAL_OUTCOMES];
    const reasons = rows.flatMap((row) => (row.reaction === 'stuck' ? [row.reason] : []));
    expect(reasons).toEqual([...new Set(reasons)]);
  });

  test('what settles something is not told as unclear', () => {
    expect(() => classifyUnclear('send', 'AS')).toThrow(RangeError);
    expect(() => classifyUnclear('find', 'not listed')).toThrow(RangeError);
  });
});
