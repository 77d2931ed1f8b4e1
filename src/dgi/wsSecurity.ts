/**
 * WS-Security of our requests (dgi/transport.md §2): the Body signed with exclusive C14N, the certificate as a
 * BinarySecurityToken. Not to be mixed up with the inclusive C14N of the documents themselves.
 */
import { type KeyObject, X509Certificate } from 'node:crypto';
import { SignedXml } from 'xml-crypto';
import type { SignatureHash } from './sign.ts';

/** What signs a request, and so says who asks: the authority takes the caller's RUC from the certificate. */
export interface DgiCredentials {
  readonly privateKey: KeyObject;
  readonly certificateDer: Uint8Array;
}

const SOAP_NAMESPACE = 'http://schemas.xmlsoap.org/soap/envelope/';
const DSIG = 'http://www.w3.org/2000/09/xmldsig#';
const EXCLUSIVE_C14N = 'http://www.w3.org/2001/10/xml-exc-c14n#';
const WSS = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-';
const WSSE = `${WSS}wssecurity-secext-1.0.xsd`;
const WSU = `${WSS}wssecurity-utility-1.0.xsd`;
const X509_TOKEN = `${WSS}x509-token-profile-1.0#X509v3`;
const BASE64_BINARY = `${WSS}soap-message-security-1.0#Base64Binary`;
const ALGORITHMS = {
  sha1: { signature: `${DSIG}rsa-sha1`, digest: `${DSIG}sha1` },
  sha256: {
    signature: 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
    digest: 'http://www.w3.org/2001/04/xmlenc#sha256',
  },
} as const;

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
