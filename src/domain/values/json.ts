/** Reads JSON with exact numbers; refuses duplicate keys, deep nesting and too many values. */

import type { Fault } from '../../errors.ts';
import { type Checked, faultAt, limitFaults, MAX_FAULTS } from '../requests/faults.ts';
import { JsonNumber } from './decimal.ts';

/** The deepest accepted nesting; the deepest body of the API has five levels. */
const DEEPEST = 32;

/**
 * More values are refused unread: no valid body has half as many, and objects with a hundred thousand names block a
 * process for a quarter of a second.
 */
const MOST_VALUES = 20_000;

type Key = string | number;

/**
 * Parses a JSON text, with a JsonNumber for each number. Paths of faults are relative to the text. The message of a fault
 * of the whole text (path '') follows its name: `must be JSON (line 1, column 2).`
 */
export function readJson(text: string): Checked<unknown> {
  if (hasTooManyValues(text))
    return refused(`must not have more than ${MOST_VALUES} values.`, 'body.too_many_values');
  try {
    // V8 checks the syntax. Its reviver could return exact numbers, but at ten times the cost.
    JSON.parse(text);
  } catch (error) {
    return refused(`must be JSON${positionOf(error, text)}.`);
  }
  const reader = new ExactReader(text);
  try {
    const value = reader.read();
    return reader.duplicates.length === 0
      ? { ok: true, value }
      : { ok: false, faults: limitFaults(reader.duplicates) };
  } catch (error) {
    if (!(error instanceof TooDeep)) throw error;
    return refused(`must not be nested more than ${DEEPEST} levels deep.`);
  }
}

/** Counts the commas outside strings. */
function hasTooManyValues(text: string): boolean {
  let [values, isString] = [1, false];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) isString = !isString;
    else if (code === BACKSLASH) at += 1;
    else if (code === COMMA && !isString) values += 1;
    if (values > MOST_VALUES) return true;
  }
  return false;
}

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];

function refused(
  message: string,
  code: 'body.malformed' | 'body.too_many_values' = 'body.malformed',
): Checked<never> {
  const fault: Fault = { path: '', code, message };
  return { ok: false, faults: [fault] };
}

/** Returns the position of V8's syntax error, if known; V8's message quotes the text and is not passed on. */
function positionOf(error: unknown, text: string): string {
  const position = /at position (\d+)/.exec(error instanceof Error ? error.message : '')?.[1];
  if (position === undefined) return '';
  const lines = text.slice(0, Number(position)).split('\n');
  return ` (line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1})`;
}

class TooDeep extends Error {}

const BLANKS = ' \n\r\t';
/** Characters that end a number or a word. */
const ENDS = `,]}${BLANKS}`;

/** Reads a text that JSON.parse accepts, so it trusts the syntax. */
class ExactReader {
  /** Faults of duplicate keys, up to one more than the limit of a response. */
  readonly duplicates: Fault[] = [];
  readonly #text: string;
  /** Path of the current value; a single array, since copying it for each key would cost more than reading the key. */
  readonly #path: Key[] = [];
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Reads the next value. */
  read(): unknown {
    const first = this.#next();
    if (first === '"') return this.#string();
    if (first !== '{' && first !== '[') return this.#numberOrWord();
    if (this.#path.length >= DEEPEST) throw new TooDeep();
    this.#at += 1;
    return first === '{' ? this.#object() : this.#array();
  }

  #object(): Record<string, unknown> {
    const object: Record<string, unknown> = {};
    while (this.#next() !== '}') {
      const name = this.#string();
      this.#path.push(name);
      if (this.duplicates.length <= MAX_FAULTS && Object.hasOwn(object, name))
        this.duplicates.push(faultAt(this.#path, 'body.duplicate_key', 'must not be given twice.'));
      this.#skip(':');
      const value = this.read();
      // A plain assignment would change the prototype.
      if (name === '__proto__')
        Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
      else object[name] = value;
      this.#path.pop();
      this.#skip(',');
    }
    this.#at += 1;
    return object;
  }

  #array(): unknown[] {
    const array: unknown[] = [];
    while (this.#next() !== ']') {
      this.#path.push(array.length);
      array.push(this.read());
      this.#path.pop();
      this.#skip(',');
    }
    this.#at += 1;
    return array;
  }

  /** Skips blanks and returns the next character without consuming it. */
  #next(): string {
    while (this.#at < this.#text.length && BLANKS.includes(this.#text.charAt(this.#at))) this.#at += 1;
    return this.#text.charAt(this.#at);
  }

  /** Consumes `character` if it is next. */
  #skip(character: string): void {
    if (this.#next() === character) this.#at += 1;
  }

  #string(): string {
    const start = this.#at;
    let escaped = false;
    for (this.#at += 1; this.#text.charAt(this.#at) !== '"'; this.#at += 1) {
      if (this.#text.charAt(this.#at) !== '\\') continue;
      escaped = true;
      this.#at += 1;
    }
    this.#at += 1;
    // "a" and "\u0061" are the same name.
    return escaped
      ? (JSON.parse(this.#text.slice(start, this.#at)) as string)
      : this.#text.slice(start + 1, this.#at - 1);
  }

  #numberOrWord(): unknown {
    const start = this.#at;
    while (this.#at < this.#text.length && !ENDS.includes(this.#text.charAt(this.#at))) this.#at += 1;
    const text = this.#text.slice(start, this.#at);
    if (text === 'null') return null;
    return text === 'true' || text === 'false' ? text === 'true' : new JsonNumber(text);
  }
}
