import { XmlCData, XmlElement, XmlText } from 'libxml2-wasm';
import type { Canonicaliser } from './canonical.ts';

/**
 * Exclusive Canonical XML 1.0 written out, for the one service whose namespace is a relative URI: libxml2 refuses to
 * canonicalise those (docs/authority/services.md#erut-namespace). Comments and processing instructions, which SOAP does
 * not allow, are left out.
 */
export const ownExclusive: Canonicaliser = (element, prefixes = []) =>
  write(element, new Map(), new Set(prefixes));

function write(
  element: XmlElement,
  rendered: ReadonlyMap<string, string>,
  inclusivePrefixes: ReadonlySet<string>,
): string {
  const declared = new Map(rendered);
  const wanted = new Map<string, string>([[element.prefix, element.namespaceUri]]);
  for (const attribute of element.attrs)
    if (attribute.prefix !== '') wanted.set(attribute.prefix, attribute.namespaceUri);
  for (const prefix of inclusivePrefixes) {
    const key = prefix === '#default' ? '' : prefix;
    const uri = element.namespaceForPrefix(key);
    if (uri !== null) wanted.set(key, uri);
  }

  const declarations: string[] = [];
  for (const [prefix, uri] of [...wanted].sort(([a], [b]) => order(a, b))) {
    if (prefix === 'xml' || (declared.get(prefix) ?? '') === uri) continue;
    declarations.push(` xmlns${prefix === '' ? '' : `:${prefix}`}="${attributeText(uri)}"`);
    declared.set(prefix, uri);
  }
  const attributes = [...element.attrs]
    .sort((a, b) => order(a.namespaceUri, b.namespaceUri) || order(a.name, b.name))
    .map((attribute) => ` ${qualified(attribute)}="${attributeText(attribute.value)}"`);

  let inner = '';
  for (let node = element.firstChild; node !== null; node = node.next) {
    if (node instanceof XmlElement) inner += write(node, declared, inclusivePrefixes);
    else if (node instanceof XmlText || node instanceof XmlCData) inner += contentText(node.content);
  }
  const name = qualified(element);
  return `<${name}${declarations.join('')}${attributes.join('')}>${inner}</${name}>`;
}

const order = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

const qualified = (node: { prefix: string; name: string }): string =>
  node.prefix === '' ? node.name : `${node.prefix}:${node.name}`;

const contentText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('\r', '&#xD;');

const attributeText = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('"', '&quot;')
    .replaceAll('\t', '&#x9;')
    .replaceAll('\n', '&#xA;')
    .replaceAll('\r', '&#xD;');
