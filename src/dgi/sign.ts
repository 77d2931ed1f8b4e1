/**
 * Signs CFEs (Formato CFE v25.2, zone I; docs/authority/signatures.md#receipts) and daily reports: enveloped, Reference
 * URI="", inclusive C14N 1.0. `writeCfe` and `writeReport` return canonical text, which is digested directly: a general
 * canonicaliser would cost several times the RSA operation.
 */
import { createHash, createSign, createVerify, type KeyObject, X509Certificate } from 'node:crypto';
import { ALGORITHMS, C14N, DSIG, ENVELOPED, type SignatureHash } from './signatures.ts';
import { element, plain } from './xml/write.ts';

const CLOSING_TAGS = ['</CFE>', '</Reporte>', '</Declaracion>'] as const;

/** A signed document: its final text, which is stored and sent unchanged, and the base64 digest for a CFE's QR code. */
export interface SignedDocument {
  xml: string;
  digest: string;
}

export interface Signer {
  /**
   * Signs the canonical text of a CFE (`writeCfe`) or a report (`writeReport`, `writeProviderReport`) and verifies the signature. Throws when
   * the private key does not belong to the certificate.
   */
  sign(canonical: string): SignedDocument;
}

/** Creates a signer for one certificate; builds the constant parts of the signature once. */
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
      if (!closingTag) throw new RangeError(`the document must end with ${CLOSING_TAGS.join(' or ')}`);
      const digest = createHash(hash).update(canonical, 'utf8').digest('base64');
      const signedInfo = `${beforeDigest}${digest}${afterDigest}`;
      // The canonical form of SignedInfo repeats the namespace that its parent Signature declares.
      const signedBytes = `<SignedInfo xmlns="${DSIG}">${signedInfo}`;
      const signature = createSign(`RSA-${hash.toUpperCase()}`).update(signedBytes, 'utf8').sign(privateKey);
      // An invalid signature would burn the number (E04), so a key that does not match the certificate stops here.
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

/** Follows the order of the official samples. */
function writeKeyInfo(certificate: X509Certificate): string {
  return (
    '<KeyInfo><X509Data>' +
    plain('X509Certificate', certificate.raw.toString('base64')) +
    '<X509IssuerSerial>' +
    element('X509IssuerName', issuerName(certificate)) +
    // Decimal, 38 to 48 digits; Node returns hexadecimal.
    plain('X509SerialNumber', BigInt(`0x${certificate.serialNumber}`).toString()) +
    '</X509IssuerSerial></X509Data></KeyInfo>'
  );
}

/** Writes the issuer as in the official samples: RFC 2253, last part of the DER first, separated by ", ". */
function issuerName(certificate: X509Certificate): string {
  return certificate.issuer.split('\n').toReversed().join(', ');
}
