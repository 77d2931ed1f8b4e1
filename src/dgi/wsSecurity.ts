/**
 * WS-Security of our requests (docs/authority/signatures.md#requests): the Body signed with exclusive C14N (documents use
 * inclusive C14N), the certificate as a BinarySecurityToken. The envelope is fixed text, written in canonical form.
 */
import { createHash, type KeyObject, sign } from 'node:crypto';
import {
  ALGORITHMS,
  BASE64_BINARY,
  DSIG,
  EXCLUSIVE_C14N,
  type SignatureHash,
  WSSE,
  WSU,
  X509_TOKEN,
} from './signatures.ts';
import { escapeText } from './xml/write.ts';

/** The key and certificate that sign a request; the authority identifies the caller by the certificate's RUC. */
export interface DgiCredentials {
  readonly privateKey: KeyObject;
  readonly certificateDer: Uint8Array;
}

const SOAP_NAMESPACE = 'http://schemas.xmlsoap.org/soap/envelope/';
const SOAP_DECLARED = ` xmlns:soapenv="${SOAP_NAMESPACE}"`;
const OPEN = `<soapenv:Envelope${SOAP_DECLARED}>`;
const CLOSE = '</soapenv:Envelope>';
const KEY_INFO =
  `<ds:KeyInfo><wsse:SecurityTokenReference><wsse:Reference URI="#X509-1" ValueType="${X509_TOKEN}"/>` +
  '</wsse:SecurityTokenReference></ds:KeyInfo>';

/**
 * Signs `call` (see `writeCall`) in a SOAP envelope. `call` must be canonical except for its CDATA sections, and declare
 * every prefix that it uses.
 */
export function signEnvelope(
  call: string,
  { credentials, hash }: { credentials: DgiCredentials; hash: SignatureHash },
): string {
  const digest = createHash(hash)
    .update(writeBody(canonicalise(call), SOAP_DECLARED), 'utf8')
    .digest('base64');
  const signedInfo = writeSignedInfo(digest, hash);
  const signedBytes = `<ds:SignedInfo xmlns:ds="${DSIG}">${signedInfo}`;
  const signature = sign(
    `RSA-${hash.toUpperCase()}`,
    Buffer.from(signedBytes, 'utf8'),
    credentials.privateKey,
  );
  const token = Buffer.from(credentials.certificateDer).toString('base64');
  return (
    `<?xml version="1.0" encoding="UTF-8"?>${OPEN}<soapenv:Header>` +
    `<wsse:Security xmlns:wsse="${WSSE}" xmlns:wsu="${WSU}" soapenv:mustUnderstand="1">` +
    `<wsse:BinarySecurityToken wsu:Id="X509-1" EncodingType="${BASE64_BINARY}" ValueType="${X509_TOKEN}">${token}` +
    `</wsse:BinarySecurityToken><ds:Signature xmlns:ds="${DSIG}"><ds:SignedInfo>${signedInfo}` +
    `<ds:SignatureValue>${signature.toString('base64')}</ds:SignatureValue>${KEY_INFO}</ds:Signature>` +
    `</wsse:Security></soapenv:Header>${writeBody(call)}${CLOSE}`
  );
}

/** Writes the Body: as sent, the envelope declares its prefix; in exclusive canonical form, `declared` does. */
const writeBody = (call: string, declared = ''): string =>
  `<soapenv:Body${declared} xmlns:wsu="${WSU}" wsu:Id="Body-1">${call}</soapenv:Body>`;

/** Replaces CDATA sections with escaped text and normalised line ends (XML 1.0 §2.11). */
const canonicalise = (call: string): string =>
  call.replace(/<!\[CDATA\[([\s\S]*?)\]\]>/g, (_, content: string) =>
    escapeText(content.replace(/\r\n?/g, '\n')),
  );

/** Writes the content of SignedInfo and its end tag, in canonical form. */
function writeSignedInfo(digest: string, hash: SignatureHash): string {
  const algorithms = ALGORITHMS[hash];
  return (
    `<ds:CanonicalizationMethod Algorithm="${EXCLUSIVE_C14N}"></ds:CanonicalizationMethod>` +
    `<ds:SignatureMethod Algorithm="${algorithms.signature}"></ds:SignatureMethod>` +
    `<ds:Reference URI="#Body-1"><ds:Transforms><ds:Transform Algorithm="${EXCLUSIVE_C14N}"></ds:Transform></ds:Transforms>` +
    `<ds:DigestMethod Algorithm="${algorithms.digest}"></ds:DigestMethod><ds:DigestValue>${digest}</ds:DigestValue>` +
    `</ds:Reference></ds:SignedInfo>`
  );
}
