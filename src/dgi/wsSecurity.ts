/**
 * WS-Security of our requests (docs/authority/signatures.md#requests): the Body signed with exclusive C14N, the
 * certificate as a BinarySecurityToken. Not to be mixed up with the inclusive C14N of the documents themselves.
 */
import { type KeyObject, X509Certificate } from 'node:crypto';
import { SignedXml } from 'xml-crypto';
import {
  ALGORITHMS,
  BASE64_BINARY,
  EXCLUSIVE_C14N,
  type SignatureHash,
  WSSE,
  WSU,
  X509_TOKEN,
} from './signatures.ts';

/** What signs a request, and so says who asks: the authority takes the caller's RUC from the certificate. */
export interface DgiCredentials {
  readonly privateKey: KeyObject;
  readonly certificateDer: Uint8Array;
}

const SOAP_NAMESPACE = 'http://schemas.xmlsoap.org/soap/envelope/';
const OPEN = `<soapenv:Envelope xmlns:soapenv="${SOAP_NAMESPACE}">`;
const CLOSE = '</soapenv:Envelope>';
const KEY_INFO =
  `<wsse:SecurityTokenReference xmlns:wsse="${WSSE}">` +
  `<wsse:Reference URI="#X509-1" ValueType="${X509_TOKEN}"/></wsse:SecurityTokenReference>`;

/** A SOAP envelope around `call`, the one element of its Body, which declares every prefix that it uses. */
export function signEnvelope(
  call: string,
  options: { credentials: DgiCredentials; hash: SignatureHash },
): string {
  const { credentials, hash } = options;
  const body = `<soapenv:Body xmlns:wsu="${WSU}" wsu:Id="Body-1">${call}</soapenv:Body>`;
  const signature = signatureOf(`${OPEN}${body}${CLOSE}`, credentials.privateKey, hash);
  const token = new X509Certificate(credentials.certificateDer).raw.toString('base64');
  // The envelope is put together as text, so that what goes out is what was signed, byte for byte.
  return (
    `<?xml version="1.0" encoding="UTF-8"?>${OPEN}<soapenv:Header>` +
    `<wsse:Security xmlns:wsse="${WSSE}" xmlns:wsu="${WSU}" soapenv:mustUnderstand="1">` +
    `<wsse:BinarySecurityToken wsu:Id="X509-1" EncodingType="${BASE64_BINARY}" ValueType="${X509_TOKEN}">${token}` +
    `</wsse:BinarySecurityToken>${signature}</wsse:Security></soapenv:Header>${body}${CLOSE}`
  );
}

function signatureOf(envelope: string, privateKey: KeyObject, hash: SignatureHash): string {
  const algorithms = ALGORITHMS[hash];
  const signer = new SignedXml({
    idMode: 'wssecurity',
    privateKey,
    signatureAlgorithm: algorithms.signature,
    canonicalizationAlgorithm: EXCLUSIVE_C14N,
    getKeyInfoContent: () => KEY_INFO,
  });
  signer.addReference({
    xpath: "/*/*[local-name(.)='Body']",
    transforms: [EXCLUSIVE_C14N],
    digestAlgorithm: algorithms.digest,
  });
  signer.computeSignature(envelope, { prefix: 'ds' });
  return signer.getSignatureXml();
}
