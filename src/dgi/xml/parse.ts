/**
 * Reading XML that others wrote: strict about form, patient about what it holds
 * (docs/authority/services.md#reading-answers).
 */
import { DOMParser, type Element, onWarningStopParsing } from '@xmldom/xmldom';

/** Not XML that we read: not well-formed, with a DOCTYPE, too large or too deep. */
export class UnreadableXml extends Error {
  override readonly name = 'UnreadableXml';
}

/** The authority's documents are some six levels deep; what nests much deeper is meant to exhaust the stack. */
const DEEPEST = 64;
/** Theirs have five. A namespace costs something at every element that it is in force at, so a few thousand would cost seconds. */
const MOST_ATTRIBUTES_OF_ONE = 32;
/** A declaration stands within the first line; its characters are ASCII in every encoding that we read. */
const DECLARATION_BYTES = 200;

/** Largest document that is read. */
export interface XmlLimits {
  readonly mostCharacters: number;
  /** Elements, and as many attributes again; by default as many as the document has room for. */
  readonly mostElements?: number;
}

/** Of an element: `<a>`, `</a>`, and twice as many comments, instructions and CDATA sections as any file has. */
const MARKS_PER_ELEMENT = 4;

/** The root element of a document. Fetches nothing and accepts no DOCTYPE; throws UnreadableXml. */
export function parseXml(text: string, limits: XmlLimits): Element {
  const { mostCharacters, mostElements = Number.POSITIVE_INFINITY } = limits;
  if (text.length > mostCharacters) throw new UnreadableXml('the XML is too large');
  if (marksIn(text) > mostElements * MARKS_PER_ELEMENT) throw new UnreadableXml('the XML has too many parts');
  if (/<!(DOCTYPE|ENTITY)/i.test(text)) throw new UnreadableXml('a DOCTYPE is not accepted');
  let root: Element | null;
  try {
    root = new DOMParser({ onError: onWarningStopParsing, normalizeLineEndings }).parseFromString(
      text,
      'text/xml',
    ).documentElement;
  } catch {
    // The parser's message quotes the document, which may hold names and amounts.
    throw new UnreadableXml('the XML is not well-formed');
  }
  if (!root) throw new UnreadableXml('the XML has no element');
  refuseTooMuch(root, mostElements);
  return root;
}

/** As XML 1.0 §2.11 has it; the parser's own way is that of XML 1.1, by which a signature over U+2028 would not hold. */
const normalizeLineEndings = (text: string): string => text.replace(/\r\n?/g, '\n');

/** How many `<` there are: known before anything is built of them. */
function marksIn(text: string): number {
  let marks = 0;
  for (let at = text.indexOf('<'); at !== -1; at = text.indexOf('<', at + 1)) marks += 1;
  return marks;
}

function refuseTooMuch(root: Element, mostElements: number): void {
  let level: Element[] = [root];
  let elements = 0;
  let attributes = 0;
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > DEEPEST) throw new UnreadableXml('the XML is nested too deeply');
    elements += level.length;
    for (const { attributes: its } of level) {
      if (its.length > MOST_ATTRIBUTES_OF_ONE) throw new UnreadableXml('an element has too many attributes');
      attributes += its.length;
    }
    if (Math.max(elements, attributes) > mostElements) throw new UnreadableXml('the XML has too many parts');
    level = level.flatMap(childrenOf);
  }
}

/** Bytes as text by the encoding that the XML declaration names, UTF-8 without one; throws UnreadableXml. */
export function decodeXml(bytes: Uint8Array): string {
  const start = Buffer.from(bytes.subarray(0, DECLARATION_BYTES)).toString('latin1');
  const label =
    /^(?:\xEF\xBB\xBF)?<\?xml[^>]*\sencoding\s*=\s*["']([\w.:-]{1,40})["']/.exec(start)?.[1] ?? 'utf-8';
  try {
    return new TextDecoder(label, { fatal: true }).decode(bytes);
  } catch {
    throw new UnreadableXml('the bytes are not in the encoding that the XML names');
  }
}

/** A document without its XML declaration, which is no longer true once the document was carried inside another. */
export const withoutDeclaration = (text: string): string =>
  text.replace(/^[\uFEFF\s]*<\?xml\s[^>]*\?>/, '').trim();

/** The child elements, in order. */
export const childrenOf = (element: Element): Element[] => Array.from(element.children);

/** Whether an element has that local name; case does not count, as the authority's own spelling varies. */
export const isNamed = (element: Element, name: string): boolean =>
  element.localName?.toLowerCase() === name.toLowerCase();

/** The child elements of that local name. */
export const childrenNamed = (element: Element, name: string): Element[] =>
  childrenOf(element).filter((child) => isNamed(child, name));

/** The first element at the end of a path of local names, or undefined where the path ends early. */
export function elementAt(element: Element | undefined, ...path: readonly string[]): Element | undefined {
  let at = element;
  for (const name of path) at = at && childrenOf(at).find((child) => isNamed(child, name));
  return at;
}

/** The trimmed text at the end of a path of local names; undefined where there is none, or nothing but blanks. */
export function textAt(element: Element | undefined, ...path: readonly string[]): string | undefined {
  return elementAt(element, ...path)?.textContent?.trim() || undefined;
}

/** The first element of that local name anywhere below, itself included. */
export function findNamed(element: Element, name: string): Element | undefined {
  if (isNamed(element, name)) return element;
  for (const child of childrenOf(element)) {
    const found = findNamed(child, name);
    if (found) return found;
  }
  return undefined;
}
