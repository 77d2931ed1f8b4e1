/** Rules for new passwords (docs/console.md#passwords; OWASP ASVS 5, 6.2.1, 6.2.4, 6.2.11). */

/**
 * Lengths of passwords in characters (NIST SP 800-63B-4, 3.1.1.2: length, no rules of composition). The maximum limits the
 * cost of hashing.
 */
export const PASSWORD_LENGTH = { shortest: 12, longest: 200 } as const;

/** Likely guesses for this service, folded. */
const OWN_WORDS =
  'admin administrador clave consola console contrasena password secreto usuario cae cfe comprobante comprobantes dgi efactura eticket factura facturas facturacion recibo rut sobre ticket montevideo uruguay'.split(
    ' ',
  );
/** Rows of keys and letters: a sequence in them, forwards or backwards, does not count as a word. */
const ROWS = ['abcdefghijklmnopqrstuvwxyz', 'qwertyuiop', 'asdfghjklñ', 'zxcvbnm'].flatMap((row) => {
  const letters = folded(row);
  return [letters, letters.split('').toReversed().join('')];
});
/** A password of at most this many common passwords is guessable. */
const MOST_COMMON_WORDS = 2;
const FEWEST_CHARACTERS = 5;
const LONGEST_WORD = 40;
const SHORTEST_NAME = 3;

/** Facts about the owner of a password that others know. */
export interface PasswordOwner {
  readonly email: string;
  /** Names of the owner's accounts. */
  readonly accountNames: readonly string[];
}

/**
 * Returns the fault of a new password, or undefined. Guessable: few different characters, or only digits, sequences, words
 * of this service, the owner's address and accounts, and at most two common passwords (`isCommon`, for a folded text).
 */
export function passwordFault(
  password: string,
  owner: PasswordOwner,
  isCommon: (text: string) => boolean,
): 'length' | 'guessable' | undefined {
  const { length } = Array.from(password);
  if (length < PASSWORD_LENGTH.shortest || length > PASSWORD_LENGTH.longest) return 'length';
  const known = new Set([...OWN_WORDS, ...[owner.email, ...owner.accountNames].flatMap(wordsOf)]);
  // A sign can replace a letter or separate words. A password of signs only has no words.
  const readings = [folded(password), folded(password.replaceAll(/[@$]/g, ' '))].filter(Boolean);
  const isPredictable =
    new Set(password).size < FEWEST_CHARACTERS ||
    readings.some((letters) => fewestCommonWords(letters, known, isCommon) <= MOST_COMMON_WORDS);
  return isPredictable ? 'guessable' : undefined;
}

/** Removes accents, signs and capitals; replaces signs that are often used for letters. */
function folded(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll('@', 'a')
    .replaceAll('$', 's')
    .replaceAll(/[^\p{L}\p{N}]/gu, '');
}

/** Returns the whole text and its words, folded. */
const wordsOf = (text: string): string[] =>
  [text, ...text.split(/[^\p{L}\p{M}\p{N}]+/u)].map(folded).filter(({ length }) => length >= SHORTEST_NAME);

/**
 * Returns the smallest number of common passwords that make up a text; known words, sequences and digits count 0. Infinity
 * if it contains anything else.
 */
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
