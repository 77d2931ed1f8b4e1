/** Which new passwords of people are refused (docs/console.md#passwords; OWASP ASVS 5, 6.2.1, 6.2.4, 6.2.11). */

/**
 * Lengths of passwords in characters (NIST SP 800-63B-4, 3.1.1.2: length, no rules of composition). The longest keeps the work of hashing small.
 */
export const PASSWORD_LENGTH = { shortest: 12, longest: 200 } as const;

/** What is tried first against this service, folded. */
const OWN_WORDS =
  'admin administrador clave consola console contrasena password secreto usuario cae cfe comprobante comprobantes dgi efactura eticket factura facturas facturacion recibo rut sobre ticket montevideo uruguay'.split(
    ' ',
  );
/** Rows of keys and of letters: whatever follows one another there, forwards or backwards, is no word of its own. */
const ROWS = ['abcdefghijklmnopqrstuvwxyz', 'qwertyuiop', 'asdfghjklñ', 'zxcvbnm'].flatMap((row) => {
  const letters = folded(row);
  return [letters, letters.split('').toReversed().join('')];
});
/** Common passwords of which a new one must be more than. */
const MOST_COMMON_WORDS = 2;
const FEWEST_CHARACTERS = 5;
const LONGEST_WORD = 40;
const SHORTEST_NAME = 3;

/** Whose password it is to be: what others know of them. */
export interface PasswordOwner {
  readonly email: string;
  /** Of the accounts that they belong to. */
  readonly accountNames: readonly string[];
}

/**
 * What is wrong with a new password of a person; undefined when nothing is. It is guessable when it repeats a few characters, or is made
 * of nothing but digits, letters in a row, words of this service, its owner's address and accounts, and at most two common
 * passwords (`isCommon`, of a folded text).
 */
export function passwordFault(
  password: string,
  owner: PasswordOwner,
  isCommon: (text: string) => boolean,
): 'length' | 'guessable' | undefined {
  const { length } = Array.from(password);
  if (length < PASSWORD_LENGTH.shortest || length > PASSWORD_LENGTH.longest) return 'length';
  const known = new Set([...OWN_WORDS, ...[owner.email, ...owner.accountNames].flatMap(wordsOf)]);
  // A sign stands for a letter, or between two words. One of signs alone has no words.
  const readings = [folded(password), folded(password.replaceAll(/[@$]/g, ' '))].filter(Boolean);
  const isPredictable =
    new Set(password).size < FEWEST_CHARACTERS ||
    readings.some((letters) => fewestCommonWords(letters, known, isCommon) <= MOST_COMMON_WORDS);
  return isPredictable ? 'guessable' : undefined;
}

/** A text without accents, signs and capitals, and with the letters for which signs often stand. */
function folded(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll('@', 'a')
    .replaceAll('$', 's')
    .replaceAll(/[^\p{L}\p{N}]/gu, '');
}

/** A text as a whole, and its words. */
const wordsOf = (text: string): string[] =>
  [text, ...text.split(/[^\p{L}\p{M}\p{N}]+/u)].map(folded).filter(({ length }) => length >= SHORTEST_NAME);

/** Of how many common passwords, at the least, a text is made; known words, rows and digits cost nothing. Infinity where something else is in it. */
function fewestCommonWords(
  text: string,
  known: ReadonlySet<string>,
  isCommon: (text: string) => boolean,
): number {
  const fewest = Array<number>(text.length + 1).fill(Number.POSITIVE_INFINITY);
  fewest[0] = 0;
  const reach = (end: number, count: number): void => {
    fewest[end] = Math.min(fewest[end] ?? count, count);
  };
  for (let start = 0; start < text.length; start += 1) {
    const count = fewest[start] ?? Number.POSITIVE_INFINITY;
    if (count > MOST_COMMON_WORDS) continue;
    if (/\d/.test(text.charAt(start))) reach(start + 1, count);
    for (let end = start + SHORTEST_NAME; end <= Math.min(text.length, start + LONGEST_WORD); end += 1) {
      const word = text.slice(start, end);
      if (known.has(word) || ROWS.some((row) => row.includes(word))) reach(end, count);
      else if (isCommon(word)) reach(end, count + 1);
    }
  }
  return fewest[text.length] ?? Number.POSITIVE_INFINITY;
}
