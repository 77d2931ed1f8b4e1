/** Reading of JSON as it was written: numbers exact, no key twice, no nesting and no list without end. */

import type { Fault } from '../errors.ts';
import { JsonNumber } from './decimal.ts';
import { type Checked, faultAt, limitFaults, MAX_FAULTS } from './faults.ts';

/** Deepest nesting that is read; the deepest body of the API has five levels. */
const DEEPEST = 32;

/**
 * More values than this are refused unread: nothing that the API takes has half as many, and objects of a hundred
 * thousand names hold up a process for a quarter of a second.
 */
const MOST_VALUES = 20_000;

type Key = string | number;

/**
 * The value of a JSON text, with a JsonNumber for each number. Faults carry paths relative to the text; the message
 * of one that concerns the whole text (path '') goes on after its name: `is not JSON (line 1, column 2).`
 */
export function readJson(text: string): Checked<unknown> {
  if (hasTooManyValues(text))
    return refused(`must not have more than ${MOST_VALUES} values.`, 'body.too_many_values');
  try {
    // Whether it is JSON is V8's to say. Its reviver would tell exact numbers too, at ten times the cost.
    JSON.parse(text);
  } catch (error) {
    return refused(`must be JSON${placeOf(error, text)}.`);
  }
  const reader = new ExactReader(text);
  try {
    const value = reader.read();
    return reader.twice.length === 0 ? { ok: true, value } : { ok: false, faults: limitFaults(reader.twice) };
  } catch (error) {
    if (!(error instanceof TooDeep)) throw error;
    return refused(`must not be nested more than ${DEEPEST} levels deep.`);
  }
}

/** Whether more than MOST_VALUES values stand between the commas of a text, those within strings aside. */
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

/** Where V8 stumbled, as far as it says; its own words quote the text and are not passed on. */
function placeOf(error: unknown, text: string): string {
  const position = /at position (\d+)/.exec(error instanceof Error ? error.message : '')?.[1];
  if (position === undefined) return '';
  const lines = text.slice(0, Number(position)).split('\n');
  return ` (line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1})`;
}

class TooDeep extends Error {}

const BLANKS = ' \n\r\t';
/** Where a number or a word ends. */
const ENDS = `,]}${BLANKS}`;

/** Reads a text that JSON.parse takes: it trusts the grammar. */
class ExactReader {
  /** Keys given twice, as many as an answer lists and one more. */
  readonly twice: Fault[] = [];
  readonly #text: string;
  /** Where the value stands that is being read; one array, since a copy for each key would cost more than the key. */
  readonly #path: Key[] = [];
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** The value that comes next. */
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
      if (this.twice.length <= MAX_FAULTS && Object.hasOwn(object, name))
        this.twice.push(faultAt(this.#path, 'body.duplicate_key', 'must not be given twice.'));
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

  /** The first character after the blanks; it is left there. */
  #next(): string {
    while (this.#at < this.#text.length && BLANKS.includes(this.#text.charAt(this.#at))) this.#at += 1;
    return this.#text.charAt(this.#at);
  }

  /** Passes over `character` where it comes next. */
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
