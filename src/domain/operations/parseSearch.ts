/** Interprets the text of the search field for CFEs. */
import * as z from 'zod';
import { type CfeIdParts, parseCfeId } from '../receipts/cfeId.ts';
import { decodeCursor } from '../values/cursor.ts';
import { addIssue, quoted } from '../values/issue.ts';
import { rutFault } from '../values/rut.ts';
import { badCharacter } from '../values/text.ts';

/** The longest search text: an Idempotency-Key. */
export const LONGEST_SEARCH = 255;

/** A serie of a CAE (docs/rules.md, cae.series). */
const SERIE = /^([A-Z]{1,2}|[1-9][A-Z])$/;
/** Schema of the cursor of a list of CFEs: the cfe_id of the last CFE on a page. */
export const CfeCursor = z.string().superRefine((value, ctx) => {
  if (decodeCfeCursor(value) !== undefined) return;
  addIssue(ctx, 'cursor.malformed', WRONG_CURSOR);
});
/** Returns the last CFE of the previous page; undefined for an invalid cursor. */
export const decodeCfeCursor = (cursor: string): CfeIdParts | undefined =>
  parseCfeId(decodeCursor(cursor, ['text'])?.[0] ?? '');
export const WRONG_CURSOR = 'must be taken from the header Link of a page of this list.';

/** The largest number of a CAE (NroCFE has seven digits). */
export const LAST_NUMBER = 9_999_999;

/** Schema of the serie of a CFE. */
export const Serie = z
  .string()
  .superRefine((value, ctx) => {
    if (SERIE.test(value)) return;
    const expected = 'must be one or two capital letters, or a digit and a capital letter';
    addIssue(ctx, 'serie.malformed', `${expected}, found ${quoted(value)}.`);
  })
  .meta({ pattern: SERIE.source, examples: ['A'] });

/** The possible meanings of a search text; all of them are searched. */
export interface ParsedSearch {
  readonly cfeId: CfeIdParts | null;
  /** Printed serie and number; without a serie, any serie matches. */
  readonly printed: { readonly serie: string | null; readonly numero: number } | null;
  /** A RUT of an enterprise or a receiver, without dots and hyphens. */
  readonly rut: string | null;
  /** The text itself: an Idempotency-Key, a request id, an external_id, or a receiver's document. */
  readonly words: string;
}

/** Serie and number with any separator; the number may have points between thousands. */
const PRINTED = /^([A-Z]{1,2}|\d[A-Z])?[\s-]*(\d{1,9}|\d{1,3}(?:\.\d{3}){1,2})$/i;

/** Parses a search text; null if it is empty, too long, or has characters that no field allows. */
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
