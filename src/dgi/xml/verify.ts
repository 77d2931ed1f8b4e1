/**
 * Signatures of documents that others wrote: ACKs, CAEs (docs/authority/signatures.md#answers-and-caes). Enveloped,
 * Reference URI="", inclusive C14N 1.0, rsa-sha1 or rsa-sha256, the certificate inside.
 */
import { createHash, verify, type X509Certificate } from 'node:crypto';
import type { Element } from '@xmldom/xmldom';
import { certificateIn } from '../../crypto/x509.ts';
import { ALGORITHMS, C14N, DSIG, ENVELOPED, type SignatureHash } from '../signatures.ts';
import { canonicalXml } from './canonical.ts';
import { childrenNamed, childrenOf, elementAt, findNamed, isNamed, textAt } from './parse.ts';

/** The document has no signature that verifies with the certificate in it. */
export class BadSignature extends Error {
  override readonly name = 'BadSignature';
}

/**
 * Verifies the one enveloped signature of a document against the certificate it carries, and takes it out: afterwards
 * the root holds what was signed and nothing else. Answers the certificate; whether that signer is trusted is the
 * caller's to judge. Throws BadSignature.
 */
export function verifyEnveloped(root: Element): X509Certificate {
  const { signature, signedInfo, reference } = signatureOf(root);
  const certificate = certificateIn(textAt(signature, 'KeyInfo', 'X509Data', 'X509Certificate') ?? '');
  if (certificate?.publicKey.asymmetricKeyType !== 'rsa')
    throw new BadSignature('no RSA certificate in KeyInfo');
  // Both are in the context of the whole document, so before anything is taken out of it.
  const signedBytes = Buffer.from(canonicalXml(signedInfo), 'utf8');
  root.removeChild(signature);
  const digest = createHash(hashOf('digest', elementAt(reference, 'DigestMethod')))
    .update(canonicalXml(root), 'utf8')
    .digest('base64');
  const method = `RSA-${hashOf('signature', elementAt(signedInfo, 'SignatureMethod')).toUpperCase()}`;
  const value = Buffer.from(compact(textAt(signature, 'SignatureValue')), 'base64');
  const holds =
    digest === compact(textAt(reference, 'DigestValue')) &&
    verify(method, signedBytes, certificate.publicKey, value);
  if (!holds) throw new BadSignature('the signature does not verify');
  return certificate;
}

const compact = (base64: string | undefined): string => (base64 ?? '').replace(/\s+/g, '');

/** The hash of a method; throws BadSignature for one that the authority does not use. */
function hashOf(kind: 'digest' | 'signature', method: Element | undefined): SignatureHash {
  const named = algorithmOf(method);
  const hash = (['sha1', 'sha256'] as const).find((each) => ALGORITHMS[each][kind] === named);
  if (hash === undefined) throw new BadSignature('a hash that the authority does not use');
  return hash;
}

/** The only Signature of the document, a child of its root, made the one way that we accept. */
function signatureOf(root: Element): { signature: Element; signedInfo: Element; reference: Element } {
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
    reference.getAttribute('URI') === '' &&
    steps[0] === ENVELOPED &&
    (steps.length === 1 || (steps.length === 2 && steps[1] === C14N));
  if (!usual) throw new BadSignature('algorithms or reference that the authority does not use');
  return { signature, signedInfo, reference };
}

const algorithmOf = (element: Element | undefined): string => element?.getAttribute('Algorithm') ?? '';
