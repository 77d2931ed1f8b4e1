/** Reading XML that others wrote: strict about form, patient about what it holds (dgi/transport.md §7, §13). */
import { DOMParser, type Element, onWarningStopParsing } from '@xmldom/xmldom';

/** What was given is not XML that we read: not well-formed, with a DOCTYPE, too large or too deep. */
export class UnreadableXml extends Error {
  override readonly name = 'UnreadableXml';
}

/** The authority's documents are some six levels deep; what nests much deeper is meant to exhaust the stack. */
const DEEPEST = 64;
/** A declaration stands within the first line; its characters are ASCII in every encoding that we read. */
const DECLARATION_BYTES = 200;

/** The root element of a text. Nothing is fetched, no DOCTYPE accepted; throws UnreadableXml. */
export function parseXml(text: string, options: { mostCharacters: number }): Element {
  if (text.length > options.mostCharacters) throw new UnreadableXml('the XML is too large');
  if (/<!(DOCTYPE|ENTITY)/i.test(text)) throw new UnreadableXml('a DOCTYPE is not accepted');
  let root: Element | null;
  try {
    root = new DOMParser({ onError: onWarningStopParsing }).parseFromString(text, 'text/xml').documentElement;
  } catch {
    // The parser's message quotes the document, which may hold names and amounts.
    throw new UnreadableXml('the XML is not well-formed');
  }
  if (!root) throw new UnreadableXml('the XML has no element');
  refuseTooDeep(root);
  return root;
}

function refuseTooDeep(root: Element): void {
  let level: Element[] = [root];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > DEEPEST) throw new UnreadableXml('the XML is nested too deeply');
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

/** A text without its XML declaration, which says nothing true once the text was carried inside another. */
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
