import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { SEARCH_ATTRIBUTES, startAttributePairs } from '../../src/searchAttributes.ts';
import * as options from '../../src/workflows/common.ts';

/** The numbers of Temporal's IndexedValueType. */
const [KEYWORD, BOOL, KEYWORD_LIST] = [2, 5, 7];
const WORKFLOWS = join(import.meta.dirname, '../../src/workflows');

describe('the search attributes', () => {
  test('leave two of the ten columns for Keywords free, and one of the three for lists', () => {
    const types: number[] = Object.values(SEARCH_ATTRIBUTES);

    expect(types.filter((type) => type === KEYWORD).length).toBeLessThanOrEqual(8);
    expect(types.filter((type) => type === KEYWORD_LIST).length).toBeLessThanOrEqual(2);
  });

  test('that workflows set themselves are among them, each with its type', () => {
    const numbers: Readonly<Record<string, number>> = { KEYWORD, BOOL, KEYWORD_LIST };
    const registered: Readonly<Record<string, number>> = SEARCH_ATTRIBUTES;
    const set = readdirSync(WORKFLOWS, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .flatMap((name) => upsertedIn(readFileSync(join(WORKFLOWS, name), 'utf8')));

    expect(new Set(set).size).toBeGreaterThanOrEqual(4);
    for (const name of set) {
      const key = (options as Readonly<Record<string, unknown>>)[name];
      expect(key).toMatchObject({ name: expect.any(String), type: expect.any(String) });
      const { name: attribute, type } = key as { name: string; type: string };
      expect([attribute, registered[attribute]]).toEqual([attribute, numbers[type]]);
    }
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

/** What follows `key:` in every `upsertSearchAttributes(…)` of a source; throws at one that names no key there. */
function upsertedIn(source: string): string[] {
  return [...source.matchAll(/upsertSearchAttributes\(([\s\S]*?)\);/g)].flatMap(([call, pairs = '']) => {
    const keys = [...pairs.matchAll(/\bkey: (\w+)/g)].map(([, key = '']) => key);
    if (keys.length === 0) throw new Error(`no key in ${call}`);
    return keys;
  });
}
