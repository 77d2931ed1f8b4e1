import { XmlC14NMode, type XmlDocument, type XmlElement } from 'libxml2-wasm';

/** Returns an element's canonical form; `prefixes` are those of an InclusiveNamespaces list. */
export type Canonicaliser = (element: XmlElement, prefixes?: readonly string[]) => string;

/**
 * Inclusive Canonical XML 1.0 of a document or of an element in it: CFE, CAE and answers
 * (docs/authority/signatures.md#canonical-forms).
 */
export const inclusive = (node: XmlDocument | XmlElement): string =>
  node.canonicalizeToString({ mode: XmlC14NMode.XML_C14N_1_0 });

/** Exclusive Canonical XML 1.0 of an element: WS-Security (docs/authority/signatures.md#canonical-forms). */
export const exclusive: Canonicaliser = (element, prefixes = []) =>
  element.canonicalizeToString({
    mode: XmlC14NMode.XML_C14N_EXCLUSIVE_1_0,
    ...(prefixes.length === 0 ? {} : { inclusiveNamespacePrefixes: [...prefixes] }),
  });
