import * as z from 'zod';
import { addIssue } from './issue.ts';

/**
 * Controls, and the two separators of lines and paragraphs: libraries for XML signatures fold those into line feeds
 * before they digest, so a CFE that holds one would never verify.
 */
const CONTROL = /[\p{Cc}\u2028\u2029]/u;
const CONTROL_BUT_LINE_ENDS = /[^\P{Cc}\r\n]/u;
const NOT_XML = /[\uFFFE\uFFFF\p{Cs}]/u;

/** Length in characters as the CFE format counts them: Unicode code points. */
function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length += 1;
  return length;
}

const codePoint = (character: string) =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;

/** What `text` holds that no field may hold: the code and the words of the fault, or undefined. */
export function badCharacter(
  text: string,
  { lineEnds = false } = {},
): { code: 'text.control_character' | 'text.invalid_character'; message: string } | undefined {
  const control = (lineEnds ? CONTROL_BUT_LINE_ENDS : CONTROL).exec(text);
  if (control !== null) {
    const place = lengthOf(text.slice(0, control.index)) + 1;
    const message = `has the control character ${codePoint(control[0])} as its character ${place}; control characters are not allowed.`;
    return { code: 'text.control_character', message };
  }
  const invalid = NOT_XML.exec(text);
  if (invalid === null) return undefined;
  const place = lengthOf(text.slice(0, invalid.index)) + 1;
  const message = `has ${codePoint(invalid[0])} as its character ${place}, which XML cannot hold.`;
  return { code: 'text.invalid_character', message };
}

/**
 * A schema for a text of 1 to `longest` characters that is more than blanks and has no control characters (line ends
 * allowed with `lineEnds`). The text is taken as it is: neither cut nor normalised.
 */
export function text(longest: number, { lineEnds = false } = {}) {
  return z
    .string()
    .superRefine((value, ctx) => {
      const bad = badCharacter(value, { lineEnds });
      if (bad) addIssue(ctx, bad.code, bad.message);
      else if (value.trim() === '') addIssue(ctx, 'text.empty', 'a text is expected, found an empty one.');
      const length = value.length <= longest ? value.length : lengthOf(value);
      if (length > longest)
        addIssue(ctx, 'text.too_long', `at most ${longest} characters are expected, found ${length}.`);
    })
    .meta({ minLength: 1, maxLength: longest });
}
