import { describe, expect, test } from '@jest/globals';
import { describeOutcomes, OUTCOMES, outcomeOf, reactionTo, unsettled } from '../../../src/dgi/outcomes.ts';

const SITUATIONS = ['send', 'find', 'ask', 'lookUp'] as const;
/** Every code of dgi/transport.md §11. */
const CODES = [
  1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 99, 100, 101, 102, 103, 104, 105, 108, 109, 111, 201, 202, 211,
  212, 221, 227,
];

describe('the table of outcomes', () => {
  test('an answer stands in one row of a situation', () => {
    for (const when of [...SITUATIONS, 'any'] as const) {
      const keys = OUTCOMES.filter((row) => row.when === when).flatMap(({ answers }) => answers);
      expect(keys).toEqual([...new Set(keys)]);
    }
  });

  test('whatever is stuck has a reason of its own, as a search attribute holds it', () => {
    const stuck = OUTCOMES.filter(({ reaction }) => reaction === 'stuck');
    const reasons = stuck.map(({ reason }) => reason);
    expect(reasons.every((reason) => /^[a-z]+\.[a-z_]+$/.test(reason ?? ''))).toBe(true);
    expect(reasons).toEqual([...new Set(reasons)]);
  });

  test.each(SITUATIONS)('%s: every code, known or not, has a row', (situation) => {
    for (const code of [...CODES, 0, 42, 9999])
      expect(outcomeOf(situation, `code ${code}`).words).not.toBe('');
  });

  test('a send whose outcome nobody knows is never simply repeated', () => {
    for (const answer of [
      'no answer',
      'http',
      'too large',
      'unreadable',
      'fault',
      'bad signature',
      'other subject',
      'code 100',
      'code 102',
    ]) {
      expect(outcomeOf('send', answer).reaction).toBe('askFirst');
    }
    expect(outcomeOf('send', 'unreached').reaction).toBe('repeat');
  });

  test('an authority that cannot be reached does not try anybody’s patience', () => {
    for (const situation of SITUATIONS) {
      expect(unsettled(situation, 'unreached')).toMatchObject({ kind: 'repeat', reached: false });
      expect(unsettled(situation, 'fault')).toMatchObject({ kind: 'repeat', reached: true });
    }
  });

  test('an answer without a row of its own has no reaction of its own', () => {
    expect(reactionTo('send', 'S08')).toBe('duplicate');
    expect(reactionTo('send', 'S42')).toBeUndefined();
    expect(() => outcomeOf('send', 'S42')).toThrow(RangeError);
  });

  test('the description for people has a line for every row', () => {
    const lines = describeOutcomes().trim().split('\n');
    expect(lines).toHaveLength(OUTCOMES.length + 2);
    expect(lines.every((line) => line.split('|').length === 6)).toBe(true);
  });
});
