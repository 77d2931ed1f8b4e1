/** Reading of JSON as it was written: numbers exact, no key twice, no nesting without end. */
import { JsonNumber } from '../domain/decimal.ts';
import { type Checked, faultAt, limited } from '../domain/faults.ts';
import type { Fault } from '../errors.ts';

/** Deepest nesting that is read; the deepest body of the API has five levels. */
const DEEPEST = 32;

type Key = string | number;

/** JSON.parse of ES2026 (in Node since 22): the reviver is told the source of numbers. TypeScript does not know it yet. */
const parse = JSON.parse as (
  text: string,
  reviver: (key: string, value: unknown, context: { source: string }) => unknown,
) => unknown;

/**
 * The value of a JSON text, with a JsonNumber for each number. Faults carry paths relative to the text; the message
 * of one that concerns the whole text (path '') goes on after its name: `is not JSON (line 1, column 2).`
 */
export function readJson(text: string): Checked<unknown> {
  const { tooDeep, twice } = survey(text);
  if (tooDeep) return refused('body.malformed', `is nested more than ${DEEPEST} levels deep.`);
  let value: unknown;
  try {
    value = parse(text, (_key, part, { source }) =>
      typeof part === 'number' ? new JsonNumber(source) : part,
    );
  } catch (error) {
    return refused('body.malformed', `is not JSON${placeOf(error, text)}.`);
  }
  if (twice.length === 0) return { ok: true, value };
  return {
    ok: false,
    faults: limited(twice.map((path) => faultAt(path, 'body.duplicate_key', 'is given twice.'))),
  };
}

function refused(code: string, message: string): Checked<never> {
  const fault: Fault = { path: '', code, message };
  return { ok: false, faults: [fault] };
}

/** Where V8 stumbled, as far as it says; its own words quote the text and are not passed on. */
function placeOf(error: unknown, text: string): string {
  const position = /at position (\d+)/.exec(error instanceof Error ? error.message : '')?.[1];
  if (position === undefined) return '';
  const lines = text.slice(0, Number(position)).split('\n');
  return ` (line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1})`;
}

/** An object or a list that is open: the names it has so far (null: a list), where we are in it, and whether a name comes. */
interface Frame {
  readonly names: Set<string> | null;
  at: Key;
  naming: boolean;
}

/** What JSON.parse passes over in silence. Of a text that is not JSON the survey says nothing of worth. */
function survey(text: string): { tooDeep: boolean; twice: Key[][] } {
  const open: Frame[] = [];
  const twice: Key[][] = [];
  for (let i = 0; i < text.length; i += 1) {
    const frame = open.at(-1);
    switch (text.charAt(i)) {
      case '{':
        open.push({ names: new Set(), at: '', naming: true });
        break;
      case '[':
        open.push({ names: null, at: 0, naming: false });
        break;
      case '}':
      case ']':
        open.pop();
        break;
      case ',':
        if (frame?.names) frame.naming = true;
        else if (frame) frame.at = Number(frame.at) + 1;
        break;
      case '"': {
        const end = endOfString(text, i);
        if (frame?.naming) {
          frame.at = nameOf(text.slice(i, end + 1));
          frame.naming = false;
          if (frame.names?.has(frame.at)) twice.push(open.map(({ at }) => at));
          frame.names?.add(frame.at);
        }
        i = end;
        break;
      }
      default:
    }
    if (open.length > DEEPEST) return { tooDeep: true, twice };
  }
  return { tooDeep: false, twice };
}

/** The index of the quotation mark that closes the string opened at `start`. */
function endOfString(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i += 1) {
    if (text[i] === '"') return i;
    if (text[i] === '\\') i += 1;
  }
  return text.length;
}

/** A name without its quotation marks and escapes: "a" and "\u0061" are the same name. */
function nameOf(literal: string): string {
  if (!literal.includes('\\')) return literal.slice(1, -1);
  try {
    return String(JSON.parse(literal));
  } catch {
    return literal;
  }
}
