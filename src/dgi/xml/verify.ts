/**
 * Signatures of documents that others wrote: ACKs, CAEs (dgi/transport.md §4, §8; guides/api.md §7). Enveloped,
 * Reference URI="", inclusive C14N 1.0, rsa-sha1 or rsa-sha256, the certificate inside.
 */
import type { X509Certificate } from 'node:crypto';
import { type Element, XMLSerializer } from '@xmldom/xmldom';
import { SignedXml } from 'xml-crypto';
import { certificateIn } from '../identity.ts';
import { childrenNamed, childrenOf, elementAt, findNamed, isNamed, parseXml, textAt } from './parse.ts';

const DSIG = 'http://www.w3.org/2000/09/xmldsig#';
const C14N = 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315';
const ENVELOPED = `${DSIG}enveloped-signature`;
const SIGNATURE_METHODS = [`${DSIG}rsa-sha1`, 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256'];
const DIGEST_METHODS = [`${DSIG}sha1`, 'http://www.w3.org/2001/04/xmlenc#sha256'];

/** What a signature covers and who made it; whether that signer is one of ours to trust is for the caller to say. */
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
 * UnreadableXml when it is not XML that we read.
 */
export function verifyEnveloped(text: string, options: { mostCharacters: number }): Verified {
  const signature = signatureOf(parseXml(text, options));
  const certificate = certificateIn(textAt(signature, 'KeyInfo', 'X509Data', 'X509Certificate') ?? '');
  if (certificate?.publicKey.asymmetricKeyType !== 'rsa')
    throw new BadSignature('no RSA certificate in KeyInfo');
  const signed = signedContent(text, signature, certificate);
  return { root: parseXml(signed, options), certificate };
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
    // xml-crypto brings another version of xmldom, so that texts pass between the two, not nodes.
    verifier.loadSignature(new XMLSerializer().serializeToString(signature));
    const [content, ...more] = verifier.checkSignature(text) ? verifier.getSignedReferences() : [];
    if (content !== undefined && more.length === 0) return content;
  } catch {
    // Its messages quote the document; that it does not verify is all there is to know.
  }
  throw new BadSignature('the signature does not verify');
}
