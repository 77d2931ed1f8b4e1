/**
 * Signatures of documents that others wrote: ACKs, CAEs (docs/authority/signatures.md#answers-and-caes). Enveloped,
 * Reference URI="", inclusive C14N 1.0, rsa-sha1 or rsa-sha256, the certificate inside.
 */
import type { X509Certificate } from 'node:crypto';
import { type Element, XMLSerializer } from '@xmldom/xmldom';
import { SignedXml } from 'xml-crypto';
import { certificateIn } from '../identity.ts';
import { ALGORITHMS, C14N, DSIG, ENVELOPED } from '../signatures.ts';
import {
  childrenNamed,
  childrenOf,
  elementAt,
  findNamed,
  isNamed,
  parseXml,
  textAt,
  type XmlLimits,
} from './parse.ts';

const SIGNATURE_METHODS: readonly string[] = [ALGORITHMS.sha1.signature, ALGORITHMS.sha256.signature];
const DIGEST_METHODS: readonly string[] = [ALGORITHMS.sha1.digest, ALGORITHMS.sha256.digest];

/** What a signature covers and who made it; whether that signer is trusted is the caller's to judge. */
export interface Verified {
  /** The root element of what was signed, read again from the signed bytes. Use this, never the original. */
  readonly root: Element;
  readonly certificate: X509Certificate;
}

/** The document has no signature that verifies with the certificate in it. */
export class BadSignature extends Error {
  override readonly name = 'BadSignature';
}

/**
 * Verifies the one enveloped signature of a document against the certificate it carries. Throws BadSignature, or
 * UnreadableXml when it is not XML that we read. The number of elements must have a limit: xml-crypto takes time by its
 * square, 3 s for 15,000.
 */
export function verifyEnveloped(text: string, limits: Required<XmlLimits>): Verified {
  const signature = signatureOf(parseXml(text, limits));
  const certificate = certificateIn(textAt(signature, 'KeyInfo', 'X509Data', 'X509Certificate') ?? '');
  if (certificate?.publicKey.asymmetricKeyType !== 'rsa')
    throw new BadSignature('no RSA certificate in KeyInfo');
  const signed = signedContent(text, signature, certificate);
  return { root: parseXml(signed, limits), certificate };
}

/** The only Signature of the document, a child of its root, made the one way that we accept. */
function signatureOf(root: Element): Element {
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
  const usual =
    algorithmOf(elementAt(signedInfo, 'CanonicalizationMethod')) === C14N &&
    SIGNATURE_METHODS.includes(algorithmOf(elementAt(signedInfo, 'SignatureMethod'))) &&
    DIGEST_METHODS.includes(algorithmOf(elementAt(reference, 'DigestMethod'))) &&
    reference.getAttribute('URI') === '' &&
    steps[0] === ENVELOPED &&
    (steps.length === 1 || (steps.length === 2 && steps[1] === C14N));
  if (!usual) throw new BadSignature('algorithms or reference that the authority does not use');
  return signature;
}

const algorithmOf = (element: Element | undefined): string => element?.getAttribute('Algorithm') ?? '';

/** The canonical text that the signature covers. The key is that of the certificate given, nothing in the document. */
function signedContent(text: string, signature: Element, certificate: X509Certificate): string {
  try {
    const verifier = new SignedXml({
      publicCert: certificate.publicKey.export({ type: 'spki', format: 'pem' }),
      getCertFromKeyInfo: () => null,
    });
    // xml-crypto brings another version of xmldom: strings pass between the two, not nodes.
    verifier.loadSignature(new XMLSerializer().serializeToString(signature));
    const [content, ...more] = verifier.checkSignature(text) ? verifier.getSignedReferences() : [];
    if (content !== undefined && more.length === 0) return content;
  } catch {
    // Its messages quote the document: nothing of them goes further.
  }
  throw new BadSignature('the signature does not verify');
}
