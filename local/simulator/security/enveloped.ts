import { createHash, sign, timingSafeEqual, verify, type X509Certificate } from 'node:crypto';
import type { XmlDocument, XmlElement } from 'libxml2-wasm';
import { inclusive } from '../xml/canonical.ts';
import { C14N, DIGEST_METHODS, DS_NS, ENVELOPED, RSA_SHA1, SHA1, SIGNATURE_METHODS } from '../xml/names.ts';
import { attributeOf, elementsNamed, elementsOf, onlyElement, parseXml } from '../xml/read.ts';
import { leaf, tag } from '../xml/write.ts';
import type { Signer } from './authority.ts';
import { decimalSerial, issuerName } from './identity.ts';

/**
 * What is wrong with the enveloped signature of a document that stands alone (docs/authority/signatures.md#receipts),
 * '' when it verifies with the certificate's key. The document loses its Signature on the way.
 */
export function faultOfEnveloped(document: XmlDocument, certificate: X509Certificate): string {
  const { root } = document;
  const signature = elementsNamed(root, DS_NS, 'Signature').at(0);
  if (!signature || elementsNamed(root, DS_NS, 'Signature').length > 1)
    return 'debe haber exactamente una Signature';
  const last = elementsOf(root).at(-1);
  if (!last?.isSameNode(signature)) return 'Signature no es el último elemento';

  const signedInfo = onlyElement(signature, DS_NS, 'SignedInfo');
  const reference = onlyElement(signedInfo, DS_NS, 'Reference');
  if (!signedInfo || !reference) return 'SignedInfo debe tener exactamente una Reference';
  const shape = faultOfShape(signedInfo, reference);
  if (shape) return shape;

  const method = SIGNATURE_METHODS.get(algorithm(signedInfo, 'SignatureMethod'));
  const digestMethod = DIGEST_METHODS.get(algorithm(reference, 'DigestMethod'));
  if (!method || !digestMethod) return 'algoritmo de firma o de resumen no admitido';
  const value = Buffer.from(onlyElement(signature, DS_NS, 'SignatureValue')?.content ?? '', 'base64');
  const digest = Buffer.from(onlyElement(reference, DS_NS, 'DigestValue')?.content ?? '', 'base64');

  const signedBytes = Buffer.from(inclusive(signedInfo));
  signature.remove();
  const actual = createHash(digestMethod).update(inclusive(document)).digest();
  if (actual.length !== digest.length || !timingSafeEqual(actual, digest))
    return 'el resumen no corresponde al contenido';
  return verify(method, signedBytes, certificate.publicKey, value)
    ? ''
    : 'la firma no corresponde al certificado';
}

function faultOfShape(signedInfo: XmlElement, reference: XmlElement): string {
  if (algorithm(signedInfo, 'CanonicalizationMethod') !== C14N) return 'canonicalización no admitida';
  if (!reference.attrs.some(({ name, value }) => name === 'URI' && value === ''))
    return 'Reference debe tener URI=""';
  const transforms = onlyElement(reference, DS_NS, 'Transforms');
  const steps = transforms
    ? elementsNamed(transforms, DS_NS, 'Transform').map((step) => attributeOf(step, 'Algorithm'))
    : [];
  const [first, second, ...more] = steps;
  const usual = first === ENVELOPED && (second === undefined || second === C14N) && more.length === 0;
  return usual ? '' : 'transformaciones no admitidas';
}

/** The Algorithm that a child of a signature's element names. */
export const algorithm = (parent: XmlElement, name: string): string =>
  attributeOf(onlyElement(parent, DS_NS, name), 'Algorithm');

/**
 * The document with the authority's own signature as last child of its root: inclusive C14N, rsa-sha1, certificate
 * embedded (docs/authority/signatures.md#answers-and-caes). `xml` must declare one default namespace on its root and
 * nothing else, so that SignedInfo, written here in canonical form, stays canonical where it stands.
 */
export function signEnveloped(xml: string, signer: Signer): string {
  using document = parseXml(xml);
  const digest = createHash('sha1').update(inclusive(document)).digest('base64');
  const signedInfo = [
    `<CanonicalizationMethod Algorithm="${C14N}"></CanonicalizationMethod>`,
    `<SignatureMethod Algorithm="${RSA_SHA1}"></SignatureMethod>`,
    `<Reference URI=""><Transforms><Transform Algorithm="${ENVELOPED}"></Transform>`,
    `<Transform Algorithm="${C14N}"></Transform></Transforms>`,
    `<DigestMethod Algorithm="${SHA1}"></DigestMethod>${leaf('DigestValue', digest)}</Reference></SignedInfo>`,
  ].join('');
  const value = sign('sha1', Buffer.from(`<SignedInfo xmlns="${DS_NS}">${signedInfo}`), signer.key).toString(
    'base64',
  );
  const { certificate } = signer;
  const keyInfo = tag(
    'KeyInfo',
    tag(
      'X509Data',
      leaf('X509Certificate', certificate.raw.toString('base64')),
      tag(
        'X509IssuerSerial',
        leaf('X509IssuerName', issuerName(certificate)),
        leaf('X509SerialNumber', decimalSerial(certificate)),
      ),
    ),
  );
  const signature = `<Signature xmlns="${DS_NS}"><SignedInfo>${signedInfo}${leaf('SignatureValue', value)}${keyInfo}</Signature>`;
  const end = xml.lastIndexOf('</');
  return `${xml.slice(0, end)}${signature}${xml.slice(end)}`;
}
