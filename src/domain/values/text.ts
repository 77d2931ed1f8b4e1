import * as z from 'zod';
import { addIssue } from './issue.ts';

/**
 * Control characters, and the line and paragraph separators: XML signature libraries turn these into line feeds before
 * digesting, so the signature of a CFE with one would be invalid.
 */
const CONTROL = /[\p{Cc}\u2028\u2029]/u;
const CONTROL_BUT_LINE_ENDS = /[^\P{Cc}\r\n]/u;
const NOT_XML = /[\uFFFE\uFFFF\p{Cs}]/u;

/** Counts characters like the CFE format: Unicode code points. */
function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length += 1;
  return length;
}

const codePoint = (character: string) =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;

/** Returns the fault of the first character in `text` that no field allows; undefined without one. */
export function badCharacter(
  text: string,
  { lineEnds = false } = {},
): { code: 'text.control_character' | 'text.invalid_character'; message: string } | undefined {
  const control = (lineEnds ? CONTROL_BUT_LINE_ENDS : CONTROL).exec(text);
  if (control !== null) {
    const position = lengthOf(text.slice(0, control.index)) + 1;
    const message = `must not contain control characters, found ${codePoint(control[0])} as character ${position}.`;
    return { code: 'text.control_character', message };
  }
  const invalid = NOT_XML.exec(text);
  if (invalid === null) return undefined;
  const position = lengthOf(text.slice(0, invalid.index)) + 1;
  const message = `must not contain characters that XML cannot hold, found ${codePoint(invalid[0])} as character ${position}.`;
  return { code: 'text.invalid_character', message };
}

/** The same check for openapi.json, in portable regular expressions: no control character, and at least one not blank. */
const CONTROLS = String.raw`\u0000-\u001F\u007F-\u009F\u2028\u2029`;
const CONTROLS_BUT_LINE_ENDS = String.raw`\u0000-\u0009\u000B\u000C\u000E-\u001F\u007F-\u009F`;
const patternOf = (controls: string) => String.raw`^[^${controls}]*[^\s${controls}][^${controls}]*$`;

/**
 * Returns a schema for a string of 1 to `longest` characters, not blank and without control characters (`lineEnds` allows
 * line breaks). The string is neither trimmed nor normalised.
 */
export function textSchema(longest: number, { lineEnds = false } = {}) {
  return z
    .string()
    .superRefine((value, ctx) => {
      const bad = badCharacter(value, { lineEnds });
      if (bad) addIssue(ctx, bad.code, bad.message);
      else if (value.trim() === '') addIssue(ctx, 'text.empty', 'must not be empty or blank.');
      const length = value.length <= longest ? value.length : lengthOf(value);
      if (length > longest)
        addIssue(ctx, 'text.too_long', `must have at most ${longest} characters, found ${length}.`);
    })
    .meta({
      minLength: 1,
      maxLength: longest,
      pattern: patternOf(lineEnds ? CONTROLS_BUT_LINE_ENDS : CONTROLS),
    });
}
