/**
 * Writes XML in canonical form (Canonical XML 1.0): no white space between elements, end tags everywhere, attributes in
 * order, characters escaped according to §2.3.
 */

const NEEDS_ESCAPE = /[&<>\r]/;
const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '\r': '&#xD;' };
/** Characters that XML 1.0 (§2.2, Char) excludes: most controls, lone surrogates, U+FFFE and U+FFFF. */
const NOT_XML = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;

/** Escapes character data. Throws RangeError for characters that XML cannot hold, which the API refuses earlier. */
export function escapeText(value: string): string {
  if (NOT_XML.test(value)) throw new RangeError('the text holds a character that XML 1.0 cannot hold');
  return NEEDS_ESCAPE.test(value)
    ? value.replace(/[&<>\r]/g, (character) => ESCAPES[character] ?? '')
    : value;
}

/** Writes an element with a string. */
export const element = (name: string, value: string): string => `<${name}>${escapeText(value)}</${name}>`;

/** Writes an element without escaping, for numbers, dates and codes that we format. */
export const plain = (name: string, value: string | number): string => `<${name}>${value}</${name}>`;

/** Writes an element with a string; '' without a value. */
export const optionalElement = (name: string, value: string | undefined): string =>
  value === undefined ? '' : element(name, value);

/** Writes an element without escaping; '' without a value. */
export const optionalPlain = (name: string, value: string | number | undefined): string =>
  value === undefined ? '' : plain(name, value);
