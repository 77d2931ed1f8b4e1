/** Messages of errors in Spanish. The English ones stand beside their rules; the table has the Spanish ones. */
import type { Fault, RefusalCode } from '../errors.ts';
import { CODES_IN_SPANISH, MESSAGES_IN_SPANISH, PARTS_IN_SPANISH } from './es/errors.ts';
import { RULES_IN_SPANISH } from './es/rules.ts';

/** A row of the table: the English text between the values, and the Spanish template. */
interface Row {
  readonly between: readonly string[];
  readonly spanish: string;
}

/** Returns the rows with the most text first, so that a message is read by the row that says most of it. */
const rowsOf = (table: Readonly<Record<string, string>>): readonly Row[] =>
  Object.entries(table)
    .toSorted(([a], [b]) => b.replaceAll('{}', '').length - a.replaceAll('{}', '').length)
    .map(([english, spanish]) => ({ between: english.split('{}'), spanish }));

const MESSAGES = rowsOf(MESSAGES_IN_SPANISH);
const PARTS = rowsOf(PARTS_IN_SPANISH);
/** The names before a message that are tried: a name from the caller may contain colons. */
const MOST_NAMES = 5;

/** Returns the values of a row in a text, each up to the next text of the row; null if the text is not of this row. */
function valuesIn(text: string, { between }: Row): string[] | null {
  const [first = '', ...rest] = between;
  const last = rest.at(-1);
  if (last === undefined) return text === first ? [] : null;
  if (!text.startsWith(first) || !text.endsWith(last)) return null;
  const values: string[] = [];
  let from = first.length;
  for (const next of rest.slice(0, -1)) {
    const to = text.indexOf(next, from);
    if (to === -1) return null;
    values.push(text.slice(from, to));
    from = to + next.length;
  }
  const end = text.length - last.length;
  return end < from ? null : [...values, text.slice(from, end)];
}

function translate(text: string, rows: readonly Row[]): string | null {
  for (const row of rows) {
    const values = valuesIn(text, row);
    if (values) {
      const part = (_: string, place: string) => partOf(values[Number(place) - 1] ?? '');
      return row.spanish.replaceAll(/\{(\d)\}/g, part).replace('se recibió nada', 'no se recibió nada');
    }
  }
  return null;
}

/** What the caller sent is quoted, and stays. */
const partOf = (value: string): string =>
  value === '' || value.startsWith('"') ? value : (translate(value, PARTS) ?? value);

/** Returns an English message in Spanish, with its values and the name of its field; null if the table has no row. */
export function messageInSpanish(message: string): string | null {
  const spanish = wordsInSpanish(message);
  if (spanish !== null) return spanish;
  // A fault of the whole body names no field, and begins with a capital.
  if (!/^[A-Z]/.test(message)) return null;
  const words = wordsInSpanish(message.charAt(0).toLowerCase() + message.slice(1));
  return words && words.charAt(0).toUpperCase() + words.slice(1);
}

function wordsInSpanish(message: string): string | null {
  let at = 0;
  for (let names = 0; names <= MOST_NAMES; names += 1) {
    const words = translate(message.slice(at), MESSAGES);
    if (words !== null) return message.slice(0, at) + words;
    const colon = message.indexOf(': ', at);
    if (colon === -1) return null;
    at = colon + 2;
  }
  return null;
}

/** Returns the message of a fault in Spanish; without a row, what its rule checks. */
function faultInSpanish({ message, code }: Fault): string {
  const rule = Object.hasOwn(RULES_IN_SPANISH, code) ? RULES_IN_SPANISH[code] : undefined;
  const [name] = /^\S+: /.exec(message) ?? [''];
  return messageInSpanish(message) ?? (rule === undefined ? CODES_IN_SPANISH.INVALID_INPUT : name + rule);
}

/** Returns message and faults of an error in Spanish. */
export function errorInSpanish(error: {
  readonly code: RefusalCode;
  readonly message: string;
  readonly faults: readonly Fault[];
}): { message: string; faults: Fault[] } {
  const faults = error.faults.map((fault) => ({ ...fault, message: faultInSpanish(fault) }));
  const [first] = faults;
  // INVALID_INPUT says its first fault (`invalidInput`).
  if (first && error.code === 'INVALID_INPUT') {
    const more = faults.length > 1 ? ` (${faults.length} errores; vea details.fields.)` : '';
    return { message: first.message + more, faults };
  }
  return { message: messageInSpanish(error.message) ?? CODES_IN_SPANISH[error.code], faults };
}
