import { describe, expect, test } from '@jest/globals';
import { SEARCH_ATTRIBUTES, startAttributePairs } from '../../src/searchAttributes.ts';

/** The numbers of Temporal's IndexedValueType. */
const [KEYWORD, KEYWORD_LIST] = [2, 7];

describe('the search attributes', () => {
  test('leave two of the ten columns for Keywords free, and one of the three for lists', () => {
    const types: number[] = Object.values(SEARCH_ATTRIBUTES);

    expect(types.filter((type) => type === KEYWORD).length).toBeLessThanOrEqual(8);
    expect(types.filter((type) => type === KEYWORD_LIST).length).toBeLessThanOrEqual(2);
  });

  test('of a run that is started go by their type: a list as a list, whatever its length', () => {
    const pairs = startAttributePairs({ State: 'PENDING', CfeId: ['101-1', '101-2'], EnterpriseRut: 'x' });

    expect(pairs.map(({ key: { name, type }, value }) => [name, type, value])).toEqual([
      ['State', 'KEYWORD', 'PENDING'],
      ['CfeId', 'KEYWORD_LIST', ['101-1', '101-2']],
      ['EnterpriseRut', 'KEYWORD', 'x'],
    ]);
  });
});
