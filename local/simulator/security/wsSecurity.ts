import { createHash, sign, timingSafeEqual, verify, type X509Certificate } from 'node:crypto';
import { XmlElement } from 'libxml2-wasm';
import type { Canonicaliser } from '../xml/canonical.ts';
import {
  BASE64_BINARY,
  DIGEST_METHODS,
  DS_NS,
  EXC_C14N,
  RSA_SHA1,
  SHA1,
  SIGNATURE_METHODS,
  SOAP_NS,
  WSSE_NS,
  WSU_NS,
  X509_TOKEN,
} from '../xml/names.ts';
import { attributeOf, elementsNamed, elementsOf, onlyElement, parseXml } from '../xml/read.ts';
import { tag } from '../xml/write.ts';
import type { Signer } from './authority.ts';
import { algorithm } from './enveloped.ts';
import { certificateFrom, rucOf } from './identity.ts';

/**
 * The gateway does not let the request through; the message is the fault's text
 * (docs/authority/signatures.md#requests).
 */
export class GatewayRefused extends Error {
  override readonly name = 'GatewayRefused';
}

/** Who sent a request: the RUC of the certificate that signed its Body. */
export interface Caller {
  readonly rut: string;
  readonly certificate: X509Certificate;
}

/**
 * Who signed the Body of a SOAP envelope (WS-Security, X.509 token, exclusive C14N, sha1 or sha256). Throws
 * GatewayRefused when the Body is not signed or was altered, or the certificate is not trusted. The services check the
 * certificate's dates, not the gateway.
 */
export function callerOf(
  envelope: XmlElement,
  body: XmlElement,
  options: {
    readonly canonicalise: Canonicaliser;
    readonly trusts: (certificate: X509Certificate) => boolean;
  },
): Caller {
  const security = onlyElement(onlyElement(envelope, SOAP_NS, 'Header'), WSSE_NS, 'Security');
  const signature = onlyElement(security, DS_NS, 'Signature');
  const signedInfo = onlyElement(signature, DS_NS, 'SignedInfo');
  if (!security || !signature || !signedInfo) throw new GatewayRefused('No signature in message!');

  const token = tokenOf(security, signature);
  const certificate = certificateFrom(token.content);
  if (!certificate || certificate.publicKey.asymmetricKeyType !== 'rsa')
    throw new GatewayRefused('Invalid BinarySecurityToken');
  const method = SIGNATURE_METHODS.get(algorithm(signedInfo, 'SignatureMethod'));
  if (!method) throw new GatewayRefused('*Unknown SignatureMethod algorithm');
  const canonicalisation = onlyElement(signedInfo, DS_NS, 'CanonicalizationMethod');
  if (attributeOf(canonicalisation, 'Algorithm') !== EXC_C14N)
    throw new GatewayRefused('*Unknown CanonicalizationMethod algorithm');

  checkReferences(envelope, body, signedInfo, options.canonicalise);
  const signed = Buffer.from(options.canonicalise(signedInfo, prefixesOf(canonicalisation)));
  const value = Buffer.from(onlyElement(signature, DS_NS, 'SignatureValue')?.content ?? '', 'base64');
  if (!verify(method, signed, certificate.publicKey, value))
    throw new GatewayRefused('Signature verification failed');

  const rut = rucOf(certificate);
  if (rut === null || !options.trusts(certificate)) throw new GatewayRefused('Certificate is not trusted');
  return { rut, certificate };
}

/**
 * Throws GatewayRefused unless every part that SignedInfo refers to has the stated digest and the Body is among them.
 */
function checkReferences(
  envelope: XmlElement,
  body: XmlElement,
  signedInfo: XmlElement,
  canonicalise: Canonicaliser,
): void {
  let coversBody = false;
  for (const reference of elementsNamed(signedInfo, DS_NS, 'Reference')) {
    const target = withId(envelope, attributeOf(reference, 'URI').replace(/^#/, ''));
    const transforms = onlyElement(reference, DS_NS, 'Transforms');
    const [transform, ...more] = transforms ? elementsOf(transforms) : [];
    if (attributeOf(transform, 'Algorithm') !== EXC_C14N || more.length > 0)
      throw new GatewayRefused('*Unknown Transform algorithm');
    const hash = DIGEST_METHODS.get(algorithm(reference, 'DigestMethod'));
    if (!hash) throw new GatewayRefused('*Unknown DigestMethod algorithm');
    const stated = Buffer.from(onlyElement(reference, DS_NS, 'DigestValue')?.content ?? '', 'base64');
    const actual = createHash(hash)
      .update(canonicalise(target, prefixesOf(transform)))
      .digest();
    if (stated.length !== actual.length || !timingSafeEqual(stated, actual))
      throw new GatewayRefused('Digest value mismatch');
    coversBody ||= target.isSameNode(body);
  }
  if (!coversBody)
    throw new GatewayRefused(
      "XPath expression /*[local-name()='Envelope']/*[local-name()='Body'] not covered by signature",
    );
}

/** The token that KeyInfo points at. */
function tokenOf(security: XmlElement, signature: XmlElement): XmlElement {
  const keyInfo = onlyElement(signature, DS_NS, 'KeyInfo');
  const pointer = onlyElement(onlyElement(keyInfo, WSSE_NS, 'SecurityTokenReference'), WSSE_NS, 'Reference');
  const id = attributeOf(pointer, 'URI').replace(/^#/, '');
  const tokens = elementsNamed(security, WSSE_NS, 'BinarySecurityToken').filter(
    (token) => idOf(token) === id,
  );
  const [token] = tokens;
  if (!token || id === '' || tokens.length > 1)
    throw new GatewayRefused('No BinarySecurityToken for the signature');
  return token;
}

/** The one element with that id; a duplicate id could have one part signed and another read. */
function withId(envelope: XmlElement, id: string): XmlElement {
  const found: XmlElement[] = [];
  const look = (element: XmlElement): void => {
    if (idOf(element) === id) found.push(element);
    for (const child of elementsOf(element)) look(child);
  };
  if (id !== '') look(envelope);
  const [element] = found;
  if (!element || found.length > 1) throw new GatewayRefused('Reference to no or more than one element');
  return element;
}

const idOf = (element: XmlElement): string =>
  element.attrs.find(({ name, namespaceUri }) => name === 'Id' && namespaceUri === WSU_NS)?.value ?? '';

const prefixesOf = (element: XmlElement | undefined): string[] => {
  const list = onlyElement(element, EXC_C14N, 'InclusiveNamespaces');
  return attributeOf(list, 'PrefixList').split(/\s+/).filter(Boolean);
};

/** A SOAP answer around what its Body holds, the Body signed as the authority signs it (rsa-sha1). */
export function signedEnvelope(
  inner: string,
  options: { readonly signer: Signer; readonly canonicalise: Canonicaliser },
): string {
  const { signer } = options;
  const body = `<SOAP-ENV:Body xmlns:wsu="${WSU_NS}" wsu:Id="Body">${inner}</SOAP-ENV:Body>`;
  const open = `<SOAP-ENV:Envelope xmlns:SOAP-ENV="${SOAP_NS}">`;
  using document = parseXml(`${open}${body}</SOAP-ENV:Envelope>`);
  const parsed = document.root.firstChild;
  const digest = createHash('sha1')
    .update(parsed instanceof XmlElement ? options.canonicalise(parsed) : '')
    .digest('base64');
  const signedInfo = [
    `<ds:SignedInfo xmlns:ds="${DS_NS}"><ds:CanonicalizationMethod Algorithm="${EXC_C14N}"></ds:CanonicalizationMethod>`,
    `<ds:SignatureMethod Algorithm="${RSA_SHA1}"></ds:SignatureMethod><ds:Reference URI="#Body"><ds:Transforms>`,
    `<ds:Transform Algorithm="${EXC_C14N}"></ds:Transform></ds:Transforms>`,
    `<ds:DigestMethod Algorithm="${SHA1}"></ds:DigestMethod><ds:DigestValue>${digest}</ds:DigestValue>`,
    '</ds:Reference></ds:SignedInfo>',
  ].join('');
  const value = sign('sha1', Buffer.from(signedInfo), signer.key).toString('base64');
  const token = signer.certificate.raw.toString('base64');
  const header = [
    `<wsse:Security xmlns:wsse="${WSSE_NS}" xmlns:wsu="${WSU_NS}" SOAP-ENV:mustUnderstand="1">`,
    `<wsse:BinarySecurityToken wsu:Id="Token" EncodingType="${BASE64_BINARY}" ValueType="${X509_TOKEN}">${token}`,
    `</wsse:BinarySecurityToken><ds:Signature xmlns:ds="${DS_NS}">${signedInfo}`,
    `<ds:SignatureValue>${value}</ds:SignatureValue><ds:KeyInfo><wsse:SecurityTokenReference>`,
    `<wsse:Reference URI="#Token" ValueType="${X509_TOKEN}"></wsse:Reference>`,
    '</wsse:SecurityTokenReference></ds:KeyInfo></ds:Signature></wsse:Security>',
  ].join('');
  return `<?xml version="1.0" encoding="UTF-8"?>\n${open}${tag('SOAP-ENV:Header', header)}${body}</SOAP-ENV:Envelope>`;
}
