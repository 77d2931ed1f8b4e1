/**
 * Verifies the signatures of ACKs and CAEs (docs/authority/signatures.md#answers-and-caes): enveloped, Reference URI="",
 * inclusive C14N 1.0, rsa-sha1 or rsa-sha256, with the certificate inside.
 */
import { createHash, verify, type X509Certificate } from 'node:crypto';
import { type Element, Node } from '@xmldom/xmldom';
import { C14nCanonicalization } from 'xml-crypto';
import { parseRsaCertificate } from '../../crypto/x509.ts';
import { ALGORITHMS, C14N, DSIG, ENVELOPED, type SignatureHash } from '../signatures.ts';
import { childrenNamed, childrenOf, elementAt, findNamed, isNamed, textAt } from './parse.ts';

/** The document has no valid signature by the certificate inside it. */
export class BadSignature extends Error {
  override readonly name = 'BadSignature';
}

/**
 * Verifies the enveloped signature of a document and removes it, so that the root holds only signed content. Returns the
 * certificate inside; the caller must check that it is trusted. Throws BadSignature.
 */
export function verifyEnveloped(root: Element): X509Certificate {
  if (hasAmbiguousCanonicalForm(root))
    throw new BadSignature('two different documents would have this canonical text');
  const { signature, signedInfo, reference } = findSignature(root);
  const certificate = parseRsaCertificate(textAt(signature, 'KeyInfo', 'X509Data', 'X509Certificate') ?? '');
  if (!certificate) throw new BadSignature('no RSA certificate in KeyInfo');
  // Must precede `removeChild`: the canonical form depends on the namespaces of the ancestors.
  const signedBytes = Buffer.from(canonicalXml(signedInfo), 'utf8');
  root.removeChild(signature);
  const digest = createHash(hashOf('digest', elementAt(reference, 'DigestMethod')))
    .update(canonicalXml(root), 'utf8')
    .digest('base64');
  const method = `RSA-${hashOf('signature', elementAt(signedInfo, 'SignatureMethod')).toUpperCase()}`;
  const value = Buffer.from(compact(textAt(signature, 'SignatureValue')), 'base64');
  const isValid =
    digest === compact(textAt(reference, 'DigestValue')) &&
    verify(method, signedBytes, certificate.publicKey, value);
  if (!isValid) throw new BadSignature('the signature does not verify');
  return certificate;
}

/**
 * True when xml-crypto's canonical text is ambiguous: it writes processing instructions as text and namespaces unescaped,
 * and drops every attribute that starts with xmlns.
 */
const hasAmbiguousCanonicalForm = (node: Node): boolean =>
  node.nodeType === Node.PROCESSING_INSTRUCTION_NODE ||
  Array.from((node as Element).attributes ?? []).some(
    ({ name, prefix, value }) =>
      name.startsWith('xmlns') && ((name !== 'xmlns' && prefix !== 'xmlns') || /["&<>\t\n\r]/.test(value)),
  ) ||
  Array.from(node.childNodes).some(hasAmbiguousCanonicalForm);

/** Sorts by code point, as C14N requires; the library's order depends on the locale. */
class Canonicaliser extends C14nCanonicalization {
  override nsCompare(a: { prefix: string }, b: { prefix: string }): 0 | 1 | -1 {
    if (a.prefix === b.prefix) return 0;
    return a.prefix < b.prefix ? -1 : 1;
  }
}
const canonicaliser = new Canonicaliser();

/** Returns the canonical text of an element, including the namespaces that its ancestors declare. */
function canonicalXml(element: Element): string {
  const inherited = new Map<string, string>();
  for (let at = element.parentNode; at?.nodeType === Node.ELEMENT_NODE; at = at.parentNode) {
    for (const { prefix, localName, name, value } of (at as Element).attributes) {
      const declared = name === 'xmlns' ? '' : prefix === 'xmlns' ? (localName ?? '') : undefined;
      if (declared !== undefined && !inherited.has(declared)) inherited.set(declared, value);
    }
  }
  // The library adds the default namespace of an element without prefix.
  if (!element.prefix || inherited.get('') === '') inherited.delete('');
  const ancestorNamespaces = [...inherited].map(([prefix, namespaceURI]) => ({ prefix, namespaceURI }));
  return canonicaliser.process(element, { ancestorNamespaces });
}

const compact = (base64: string | undefined): string => (base64 ?? '').replace(/\s+/g, '');

/** Returns the hash of a method. Throws BadSignature for a hash that the authority does not use. */
function hashOf(kind: 'digest' | 'signature', method: Element | undefined): SignatureHash {
  const algorithm = algorithmOf(method);
  const hash = (['sha1', 'sha256'] as const).find((each) => ALGORITHMS[each][kind] === algorithm);
  if (hash === undefined) throw new BadSignature('a hash that the authority does not use');
  return hash;
}

/** Returns the only Signature, a child of the root. Throws BadSignature unless it has the accepted form. */
function findSignature(root: Element): { signature: Element; signedInfo: Element; reference: Element } {
  const [signature, ...more] = childrenOf(root).filter((child) => isNamed(child, 'Signature'));
  if (!signature || more.length > 0 || signature.namespaceURI !== DSIG)
    throw new BadSignature('not exactly one Signature');
  const others = childrenOf(root).filter((child) => child !== signature);
  if (others.some((child) => findNamed(child, 'Signature')))
    throw new BadSignature('a Signature inside the content');

  const [signedInfo, ...moreInfos] = childrenNamed(signature, 'SignedInfo');
  const references = signedInfo ? childrenNamed(signedInfo, 'Reference') : [];
  const [reference] = references;
  if (!signedInfo || moreInfos.length > 0 || !reference || references.length > 1) {
    throw new BadSignature('not exactly one SignedInfo with one Reference');
  }
  const transforms = elementAt(reference, 'Transforms');
  const steps = transforms ? childrenNamed(transforms, 'Transform').map(algorithmOf) : [];
  const isAccepted =
    algorithmOf(elementAt(signedInfo, 'CanonicalizationMethod')) === C14N &&
    reference.getAttribute('URI') === '' &&
    steps[0] === ENVELOPED &&
    (steps.length === 1 || (steps.length === 2 && steps[1] === C14N));
  if (!isAccepted) throw new BadSignature('algorithms or reference that the authority does not use');
  return { signature, signedInfo, reference };
}

const algorithmOf = (element: Element | undefined): string => element?.getAttribute('Algorithm') ?? '';
