/** Reads XML from outside: strict about form, lenient about content (docs/authority/services.md#reading-answers). */
import { DOMParser, type Element, onWarningStopParsing } from '@xmldom/xmldom';

/** The XML is not well-formed, has a DOCTYPE, or is too large or too deep. */
export class UnreadableXml extends Error {
  override readonly name = 'UnreadableXml';
}

/** The authority's documents are some six levels deep; much deeper nesting is an attack on the stack. */
const DEEPEST = 64;
/** The authority uses five. Each namespace costs time at every element in its scope: some thousands would take seconds. */
const MOST_ATTRIBUTES_PER_ELEMENT = 32;
/** The declaration is in the first line, and is ASCII in every encoding that we read. */
const DECLARATION_BYTES = 200;

/** The largest accepted document. */
export interface XmlLimits {
  readonly mostCharacters: number;
  /** Applies to elements and to attributes; unlimited by default. */
  readonly mostElements?: number;
}

/** `<` per element: two tags, and generous room for comments, instructions and CDATA sections. */
const MARKS_PER_ELEMENT = 4;

/** Parses a document and returns its root element. Fetches nothing and accepts no DOCTYPE. Throws UnreadableXml. */
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

/** Follows XML 1.0 §2.11; the parser's default is XML 1.1, which would break a signature over U+2028. */
const normalizeLineEndings = (text: string): string => text.replace(/\r\n?/g, '\n');

/** Counts `<`, to refuse a document before parsing it. */
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
    for (const { length } of level.map((element) => element.attributes)) {
      if (length > MOST_ATTRIBUTES_PER_ELEMENT) throw new UnreadableXml('an element has too many attributes');
      attributes += length;
    }
    if (Math.max(elements, attributes) > mostElements) throw new UnreadableXml('the XML has too many parts');
    level = level.flatMap(childrenOf);
  }
}

/** Decodes bytes with the encoding in the XML declaration, UTF-8 by default. Throws UnreadableXml. */
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

/** Removes the XML declaration, whose encoding no longer applies to a document inside another. */
export const withoutDeclaration = (text: string): string =>
  text.replace(/^[\uFEFF\s]*<\?xml\s[^>]*\?>/, '').trim();

export const childrenOf = (element: Element): Element[] => Array.from(element.children);

/** Compares local names without case, as the authority's spelling varies. */
export const isNamed = (element: Element, name: string): boolean =>
  element.localName?.toLowerCase() === name.toLowerCase();

export const childrenNamed = (element: Element, name: string): Element[] =>
  childrenOf(element).filter((child) => isNamed(child, name));

/** Returns the first element at a path of local names, or undefined. */
export function elementAt(element: Element | undefined, ...path: readonly string[]): Element | undefined {
  let at = element;
  for (const name of path) at = at && childrenOf(at).find((child) => isNamed(child, name));
  return at;
}

/** Returns the trimmed text at a path of local names; undefined when missing or blank. */
export function textAt(element: Element | undefined, ...path: readonly string[]): string | undefined {
  return elementAt(element, ...path)?.textContent?.trim() || undefined;
}

/** Returns the first element of that local name: `element` itself or any descendant. */
export function findNamed(element: Element, name: string): Element | undefined {
  if (isNamed(element, name)) return element;
  for (const child of childrenOf(element)) {
    const match = findNamed(child, name);
    if (match) return match;
  }
  return undefined;
}
