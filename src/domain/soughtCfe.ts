/** What somebody may mean who looks for a CFE by a text that they have: the one search field reads it by these forms. */
import { type CfeIdParts, parseCfeId } from './cfeId.ts';
import { rutFault } from './rut.ts';

/** Longest text that is looked for: that of an Idempotency-Key. */
const LONGEST_SOUGHT = 255;

/** What a text may name; each that is there is looked for. */
export interface Sought {
  readonly cfeId: CfeIdParts | null;
  /** As printed: serie and number; a number alone is of any serie. */
  readonly printed: { readonly serie: string | null; readonly numero: number } | null;
  /** A RUT, with dots and hyphens or without: an enterprise's, or a receiver's. */
  readonly rut: string | null;
  /** An Idempotency-Key, a request id, or a receiver's document, as they stand. */
  readonly words: string;
}

/** Two letters, or a digit and a letter (docs/rules.md, cae.series); what stands between serie and number differs. */
const PRINTED = /^([A-Z]{1,2}|\d[A-Z])?[\s-]*(\d{1,9})$/i;

/** Reads a text that somebody looks for; null where it is empty or too long to be anything. */
export function soughtIn(text: string): Sought | null {
  const words = text.trim();
  if (words === '' || words.length > LONGEST_SOUGHT) return null;
  const digits = words.replace(/[.\s-]/g, '');
  const printed = PRINTED.exec(words);
  return {
    cfeId: parseCfeId(words) ?? null,
    printed: printed && { serie: printed[1]?.toUpperCase() ?? null, numero: Number(printed[2]) },
    rut: rutFault(digits) === undefined ? digits : null,
    words,
  };
}
