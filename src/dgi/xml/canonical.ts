/**
 * Canonical XML 1.0 without comments (https://www.w3.org/TR/2001/REC-xml-c14n-20010315) of documents that others
 * wrote and we have read (parse.ts): it takes a look at each node, once.
 */
import { type Attr, type Element, Node } from '@xmldom/xmldom';

const XMLNS = 'http://www.w3.org/2000/xmlns/';

/** The namespaces in force, by prefix; '' is the default. */
type Namespaces = ReadonlyMap<string, string>;

/**
 * The canonical text of an element as part of its document: with the namespaces that its ancestors declare. Attributes
 * `xml:…` of ancestors, which that recommendation inherits too, are not looked for: the authority has none.
 */
export function canonicalXml(element: Element): string {
  const ancestors: Element[] = [];
  for (let at = element.parentNode; at?.nodeType === Node.ELEMENT_NODE; at = at.parentNode) {
    ancestors.unshift(at as Element);
  }
  const declared = ancestors.reduce<Namespaces>(
    (inForce, ancestor) => new Map([...inForce, ...declarationsOf(ancestor)]),
    new Map(),
  );
  return write(element, new Map(), declared);
}

/** `written`: what stands in the text already; `declared`: what is in force besides. */
function write(element: Element, written: Namespaces, declared: Namespaces = new Map()): string {
  const own = new Map([...declared, ...declarationsOf(element)]);
  const changed = [...own].filter(([prefix, uri]) => (written.get(prefix) ?? '') !== uri);
  const inForce = changed.length === 0 ? written : new Map([...written, ...changed]);
  const namespaces = changed
    .sort(([a], [b]) => order(a, b))
    .map(([prefix, uri]) => ` ${prefix === '' ? 'xmlns' : `xmlns:${prefix}`}="${inAttribute(uri)}"`);
  const attributes = Array.from(element.attributes)
    .filter((attribute) => !isDeclaration(attribute))
    .sort(
      (a, b) =>
        order(a.namespaceURI ?? '', b.namespaceURI ?? '') || order(a.localName ?? '', b.localName ?? ''),
    )
    .map(({ name, value }) => ` ${name}="${inAttribute(value)}"`);
  let content = '';
  for (let child = element.firstChild; child; child = child.nextSibling)
    content += writeChild(child, inForce);
  const { tagName } = element;
  return `<${tagName}${namespaces.join('')}${attributes.join('')}>${content}</${tagName}>`;
}

function writeChild(child: Node, written: Namespaces): string {
  switch (child.nodeType) {
    case Node.ELEMENT_NODE:
      return write(child as Element, written);
    case Node.TEXT_NODE:
    case Node.CDATA_SECTION_NODE:
      return inText(child.nodeValue ?? '');
    case Node.PROCESSING_INSTRUCTION_NODE:
      return `<?${child.nodeName}${child.nodeValue ? ` ${child.nodeValue}` : ''}?>`;
    default:
      return '';
  }
}

const isDeclaration = ({ namespaceURI }: Attr): boolean => namespaceURI === XMLNS;

const declarationsOf = (element: Element): [prefix: string, uri: string][] =>
  Array.from(element.attributes)
    .filter(isDeclaration)
    .map(({ prefix, localName, value }) => [prefix === 'xmlns' ? (localName ?? '') : '', value]);

/** By the characters' numbers, as the recommendation wants; UTF-16 sorts all names that occur in the same way. */
const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const inText = (value: string): string => value.replace(/[&<>\r]/g, (character) => ESCAPES[character] ?? '');
const inAttribute = (value: string): string =>
  value.replace(/[&<"\t\n\r]/g, (character) => ESCAPES[character] ?? '');

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\t': '&#x9;',
  '\n': '&#xA;',
  '\r': '&#xD;',
};
