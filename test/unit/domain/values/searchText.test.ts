import { describe, expect, test } from '@jest/globals';
import { searchText } from '../../../../src/domain/values/searchText.ts';

describe('searchText', () => {
  test.each([
    ['Ñandú', 'nandu', 'marks are no difference'],
    ['PEÑAROL', 'peñarol', 'nor is case'],
    ['Ångström', 'angstrom', 'nor are marks of other languages'],
    ['Ñandú', 'N\u0303andu\u0301', 'nor is how a marked letter is written'],
    ['Große Straße', 'GROSSE STRASSE', 'ß is two letters'],
    ['Łódź', 'lodz', 'a stroke is a mark, too'],
    ['Bjørn & Æsir', 'bjorn & aesir', 'ligatures are their letters'],
    ['ΟΔΟΣ', 'οδος', 'a final sigma is a sigma'],
    ['İstanbul', 'ISTANBUL', 'a dotted capital is a capital'],
    ['ﬁn ＡＢ', 'fin ab', 'wide letters are letters'],
  ])('%s is found by %s: %s', (name, part) => {
    expect(searchText(name)).toBe(searchText(part));
  });

  test('a part of a name comes out as a part of what the name comes out as', () => {
    expect(searchText('Almacén Peñarol S.R.L.')).toContain(searchText('én peña'));
  });

  test('other signs stay as they are', () => {
    expect(searchText('100% _\\ 中文')).toBe('100% _\\ 中文');
  });
});
