/** Letters of Latin names that are no base letter with a mark, and so stay when marks are taken away. */
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
 * `text` as it is compared in a search that ignores accents and case: `Ñandú` and `nandu` come out the same, and so
 * do wide letters and ligatures (`Ａ`, `ﬁ`) and what they stand for.
 */
export function searchText(text: string): string {
  return (
    text
      .normalize('NFKD')
      .replace(/\p{M}/gu, '')
      // Down first, so that both forms of ß become SS; up last, so that both forms of sigma become one.
      .toLowerCase()
      .toUpperCase()
      .replace(SPECIAL, (letter) => LETTERS[letter] ?? letter)
  );
}
