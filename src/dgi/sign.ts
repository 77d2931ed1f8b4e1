/**
 * The signature of a CFE (Formato CFE v25.2, zone I; docs/authority/signatures.md#receipts): enveloped, Reference
 * URI="", inclusive C14N 1.0, over the CFE as a document of its own. What `writeCfe` gives is canonical already, so it
 * is digested as it stands; a general canonicaliser would cost several times the RSA operation itself.
 */
import { createHash, createSign, createVerify, type KeyObject, X509Certificate } from 'node:crypto';
import { ALGORITHMS, C14N, DSIG, ENVELOPED, type SignatureHash } from './signatures.ts';
import { element, plain } from './xml/write.ts';

const CLOSING_TAG = '</CFE>';

/** A signed CFE: its final text, stored and sent as it is, and the base64 digest that its QR code carries. */
export interface SignedCfe {
  xml: string;
  digest: string;
}

export interface Signer {
  /** Signs the canonical text of a CFE (`writeCfe`) and checks the result; throws when the two do not agree. */
  sign(canonicalCfe: string): SignedCfe;
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
    sign(canonicalCfe) {
      if (!canonicalCfe.endsWith(CLOSING_TAG)) throw new RangeError('a CFE ends with </CFE>');
      const digest = createHash(hash).update(canonicalCfe, 'utf8').digest('base64');
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
        `${canonicalCfe.slice(0, -CLOSING_TAG.length)}<Signature xmlns="${DSIG}"><SignedInfo>${signedInfo}` +
        `<SignatureValue>${signature.toString('base64')}</SignatureValue>${keyInfo}</Signature>${CLOSING_TAG}`;
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
