import { XmlCData, XmlDocument, XmlElement, XmlText } from 'libxml2-wasm';

/** Input that the authority does not read: not well-formed, or with a DOCTYPE. */
export class XmlRefused extends Error {
  override readonly name = 'XmlRefused';
}

/** An element as a plain object, independent of the parser's memory. */
export interface XmlTree {
  readonly name: string;
  readonly namespace: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly XmlTree[];
  /** The text directly inside the element, CDATA sections included. */
  readonly text: string;
}

/** A parsed document, which the caller must dispose of. Fetches nothing; throws XmlRefused, for a DOCTYPE too. */
export function parseXml(source: string | Uint8Array): XmlDocument {
  let document: XmlDocument;
  try {
    document = typeof source === 'string' ? XmlDocument.fromString(source) : XmlDocument.fromBuffer(source);
  } catch (cause) {
    throw new XmlRefused('not well-formed', { cause });
  }
  if (document.dtd === null) return document;
  document.dispose();
  throw new XmlRefused('a DOCTYPE is not accepted');
}

/** The element and everything in it as plain objects. */
export function treeOf(element: XmlElement): XmlTree {
  const children: XmlTree[] = [];
  let text = '';
  for (let node = element.firstChild; node !== null; node = node.next) {
    if (node instanceof XmlElement) children.push(treeOf(node));
    else if (node instanceof XmlText || node instanceof XmlCData) text += node.content;
  }
  const attributes = Object.fromEntries(element.attrs.map((attribute) => [attribute.name, attribute.value]));
  return { name: element.name, namespace: element.namespaceUri, attributes, children, text };
}

/** The root of a document as a plain object. Throws XmlRefused. */
export function readTree(source: string | Uint8Array): XmlTree {
  using document = parseXml(source);
  return treeOf(document.root);
}

/** The child elements, in order. */
export function elementsOf(element: XmlElement): XmlElement[] {
  const found: XmlElement[] = [];
  for (let node = element.firstChild; node !== null; node = node.next)
    if (node instanceof XmlElement) found.push(node);
  return found;
}

/** The child elements of a namespace and local name. */
export const elementsNamed = (element: XmlElement, namespace: string, name: string): XmlElement[] =>
  elementsOf(element).filter((child) => child.name === name && child.namespaceUri === namespace);

/** The only child element of that name; undefined when there is none or several. */
export function onlyElement(
  element: XmlElement | undefined,
  namespace: string,
  name: string,
): XmlElement | undefined {
  const found = element === undefined ? [] : elementsNamed(element, namespace, name);
  return found.length === 1 ? found[0] : undefined;
}

/** The value of an attribute without a namespace; '' when it is missing. */
export const attributeOf = (element: XmlElement | undefined, name: string): string =>
  element?.attrs.find((attribute) => attribute.name === name && attribute.namespaceUri === '')?.value ?? '';

/** The first child of a tree by local name. */
export const childOf = (tree: XmlTree | undefined, name: string): XmlTree | undefined =>
  tree?.children.find((child) => child.name === name);

/** The text at the end of a path of local names; undefined when the path does not exist. */
export function textAt(tree: XmlTree | undefined, ...path: readonly string[]): string | undefined {
  let at = tree;
  for (const name of path) at = childOf(at, name);
  return at?.text;
}

/** The text without its XML declaration, whose encoding is wrong once the text is inside a SOAP string. */
export const withoutDeclaration = (text: string): string =>
  text.replace(/^\uFEFF?\s*<\?xml\s[^>]*\?>/, '').trim();
