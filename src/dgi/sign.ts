/**
 * The signature of a CFE (Formato CFE v25.2, zone I; docs/authority/signatures.md#receipts) and of a daily report, which
 * is signed alike: enveloped, Reference URI="", inclusive C14N 1.0, over the document. What `writeCfe` and `writeReport`
 * give is canonical already, so it is digested as it stands; a general canonicaliser would cost several times the RSA
 * operation itself.
 */
import { createHash, createSign, createVerify, type KeyObject, X509Certificate } from 'node:crypto';
import { ALGORITHMS, C14N, DSIG, ENVELOPED, type SignatureHash } from './signatures.ts';
import { element, plain } from './xml/write.ts';

const CLOSING_TAGS = ['</CFE>', '</Reporte>'] as const;

/** A signed document: its final text, stored and sent as it is, and the base64 digest that a CFE's QR code carries. */
export interface SignedDocument {
  xml: string;
  digest: string;
}

export interface Signer {
  /**
   * Signs the canonical text of a CFE (`writeCfe`) or a report (`writeReport`) and checks the result; throws when the
   * private key is not the certificate's.
   */
  sign(canonical: string): SignedDocument;
}

/** A signer for one certificate. What does not change from one CFE to the next is put together once. */
export function createSigner(options: {
  privateKey: KeyObject;
  certificateDer: Uint8Array;
  hash: SignatureHash;
}): Signer {
  const { privateKey, hash } = options;
  const certificate = new X509Certificate(options.certificateDer);
  const { publicKey } = certificate;
  const algorithms = ALGORITHMS[hash];
  const beforeDigest =
    `<CanonicalizationMethod Algorithm="${C14N}"></CanonicalizationMethod>` +
    `<SignatureMethod Algorithm="${algorithms.signature}"></SignatureMethod>` +
    `<Reference URI=""><Transforms><Transform Algorithm="${ENVELOPED}"></Transform>` +
    `<Transform Algorithm="${C14N}"></Transform></Transforms>` +
    `<DigestMethod Algorithm="${algorithms.digest}"></DigestMethod><DigestValue>`;
  const afterDigest = '</DigestValue></Reference></SignedInfo>';
  const keyInfo = writeKeyInfo(certificate);

  return {
    sign(canonical) {
      const closingTag = CLOSING_TAGS.find((tag) => canonical.endsWith(tag));
      if (!closingTag) throw new RangeError(`only what ends with ${CLOSING_TAGS.join(' or ')} is signed`);
      const digest = createHash(hash).update(canonical, 'utf8').digest('base64');
      const signedInfo = `${beforeDigest}${digest}${afterDigest}`;
      // Canonical on its own, SignedInfo carries the namespace that its parent Signature declares.
      const signedBytes = `<SignedInfo xmlns="${DSIG}">${signedInfo}`;
      const signature = createSign(`RSA-${hash.toUpperCase()}`).update(signedBytes, 'utf8').sign(privateKey);
      // A signature that does not verify would burn the number (E04): a key that is not the certificate's stops here.
      if (
        !createVerify(`RSA-${hash.toUpperCase()}`).update(signedBytes, 'utf8').verify(publicKey, signature)
      ) {
        throw new Error('the private key does not belong to the certificate');
      }
      const xml =
        `${canonical.slice(0, -closingTag.length)}<Signature xmlns="${DSIG}"><SignedInfo>${signedInfo}` +
        `<SignatureValue>${signature.toString('base64')}</SignatureValue>${keyInfo}</Signature>${closingTag}`;
      return { xml, digest };
    },
  };
}

/** KeyInfo with the certificate and its issuer and serial number, in the order of the official samples. */
function writeKeyInfo(certificate: X509Certificate): string {
  return (
    '<KeyInfo><X509Data>' +
    plain('X509Certificate', certificate.raw.toString('base64')) +
    '<X509IssuerSerial>' +
    element('X509IssuerName', issuerName(certificate)) +
    // Decimal, 38 to 48 digits; Node gives it in hexadecimal.
    plain('X509SerialNumber', BigInt(`0x${certificate.serialNumber}`).toString()) +
    '</X509IssuerSerial></X509Data></KeyInfo>'
  );
}

/** The issuer as the samples write it: RFC 2253, last part of the DER first, separated by ", ". */
function issuerName(certificate: X509Certificate): string {
  return certificate.issuer.split('\n').toReversed().join(', ');
}
