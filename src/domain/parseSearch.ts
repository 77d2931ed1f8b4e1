/** What somebody may mean who looks for a CFE by a text that they have: the one search field reads it by these forms. */
import * as z from 'zod';
import { type CfeIdParts, parseCfeId } from './cfeId.ts';
import { decodeCursor } from './cursor.ts';
import { addIssue } from './issue.ts';
import { rutFault } from './rut.ts';
import { badCharacter } from './text.ts';

/** Longest text that is looked for: that of an Idempotency-Key. */
export const LONGEST_SEARCH = 255;

/** A serie, as CAEs have it (docs/rules.md, cae.series). */
const SERIE = /^([A-Z]{1,2}|\d[A-Z])$/;
/** A schema for where a page of CFEs ended: the cfe_id of its last one, as a cursor. */
export const CfeCursor = z.string().superRefine((value, ctx) => {
  if (decodeCfeCursor(value) !== undefined) return;
  addIssue(ctx, 'cursor.malformed', WRONG_CURSOR);
});
/** The CFE with which the page before ended; undefined for what is no such cursor. */
export const decodeCfeCursor = (cursor: string): CfeIdParts | undefined =>
  parseCfeId(decodeCursor(cursor, ['text'])?.[0] ?? '');
export const WRONG_CURSOR = 'must be taken from the header Link of a page of this list.';

/** The largest number that a CAE can give (NroCFE has seven digits). */
export const LAST_NUMBER = 9_999_999;

/** A schema for the serie of a CFE. */
export const Serie = z
  .string()
  .superRefine((value, ctx) => {
    if (SERIE.test(value)) return;
    const found = value.length <= 20 ? JSON.stringify(value) : 'a longer string';
    const expected = 'must be one or two capital letters, or a digit and a capital letter';
    addIssue(ctx, 'serie.malformed', `${expected}, found ${found}.`);
  })
  .meta({ pattern: SERIE.source, examples: ['A'] });

/** What a text may name; each that is there is looked for. */
export interface ParsedSearch {
  readonly cfeId: CfeIdParts | null;
  /** As printed: serie and number; a number alone is of any serie. */
  readonly printed: { readonly serie: string | null; readonly numero: number } | null;
  /** A RUT, with dots and hyphens or without: an enterprise's, or a receiver's. */
  readonly rut: string | null;
  /** An Idempotency-Key, a request id, or a receiver's document, as they stand. */
  readonly words: string;
}

/** What stands between serie and number differs; the number may have points between thousands. */
const PRINTED = /^([A-Z]{1,2}|\d[A-Z])?[\s-]*(\d{1,9}|\d{1,3}(?:\.\d{3}){1,2})$/i;

/** Reads a text that somebody looks for; null where it is empty, too long or holds what no field may hold. */
export function parseSearch(text: string): ParsedSearch | null {
  const words = text.trim();
  if (words === '' || words.length > LONGEST_SEARCH || badCharacter(words)) return null;
  const digits = words.replace(/[.\s-]/g, '');
  const printed = PRINTED.exec(words);
  return {
    cfeId: parseCfeId(words) ?? null,
    printed: printed && {
      serie: printed[1]?.toUpperCase() ?? null,
      numero: Number(printed[2]?.replaceAll('.', '')),
    },
    rut: rutFault(digits) === undefined ? digits : null,
    words,
  };
}
