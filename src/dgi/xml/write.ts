/**
 * Writing XML so that what is written is already its own canonical form (Canonical XML 1.0): no white space between
 * elements, end tags everywhere, attributes in order, characters escaped as §2.3 of that recommendation wants.
 */

const NEEDS_ESCAPE = /[&<>\r]/;
const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '\r': '&#xD;' };
/** Whatever XML 1.0 (§2.2, Char) does not hold: most controls, lone surrogates, U+FFFE and U+FFFF. */
const NOT_XML = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;

/** Character data. Throws RangeError for characters that XML cannot hold; what the API lets in holds none. */
export function text(value: string): string {
  if (NOT_XML.test(value)) throw new RangeError('the text holds a character that XML 1.0 cannot hold');
  return NEEDS_ESCAPE.test(value)
    ? value.replace(/[&<>\r]/g, (character) => ESCAPES[character] ?? '')
    : value;
}

/** An element that holds a string. */
export const element = (name: string, value: string): string => `<${name}>${text(value)}</${name}>`;

/** An element whose value needs no escaping: numbers, dates and codes that our own code formats. */
export const plain = (name: string, value: string | number): string => `<${name}>${value}</${name}>`;

/** An element that holds a string, or nothing where there is none. */
export const optional = (name: string, value: string | undefined): string =>
  value === undefined ? '' : element(name, value);

/** `plain`, or nothing where there is no value. */
export const optionalPlain = (name: string, value: string | number | undefined): string =>
  value === undefined ? '' : plain(name, value);
