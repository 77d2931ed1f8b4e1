/** Letters of Latin names that are not a base letter with a mark, so that removing marks keeps them. */
const LETTERS: Readonly<Record<string, string>> = {
  Æ: 'AE',
  Œ: 'OE',
  Ø: 'O',
  Ł: 'L',
  Đ: 'D',
  Ð: 'D',
  Þ: 'TH',
  Ħ: 'H',
};
const SPECIAL = new RegExp(`[${Object.keys(LETTERS).join('')}]`, 'gu');

/**
 * Normalises text for a search without accents and case: equal for `Ñandú` and `nandu`, and for wide letters and ligatures
 * (`Ａ`, `ﬁ`) and their plain letters.
 */
export function searchText(text: string): string {
  return (
    text
      .normalize('NFKD')
      .replace(/\p{M}/gu, '')
      // Lower case first turns both forms of ß into SS; upper case last unites both forms of sigma.
      .toLowerCase()
      .toUpperCase()
      .replace(SPECIAL, (letter) => LETTERS[letter] ?? letter)
  );
}
