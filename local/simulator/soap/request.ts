import type { XmlDocument, XmlElement } from 'libxml2-wasm';
import { GatewayRefused } from '../security/wsSecurity.ts';
import { SOAP_NS } from '../xml/names.ts';
import { elementsOf, onlyElement, parseXml, XmlRefused } from '../xml/read.ts';

/** A parsed SOAP request; its elements are valid until it is disposed of. */
export interface SoapRequest extends Disposable {
  readonly envelope: XmlElement;
  readonly body: XmlElement;
  /** The only element in the Body. */
  readonly call: XmlElement;
}

/** Reads a SOAP 1.1 envelope with one element in its Body. Throws GatewayRefused. */
export function readSoap(bytes: Uint8Array): SoapRequest {
  const document = parseEnvelope(bytes);
  const envelope = document.root;
  const body = onlyElement(envelope, SOAP_NS, 'Body');
  const [call, ...more] = body ? elementsOf(body) : [];
  if (envelope.name === 'Envelope' && envelope.namespaceUri === SOAP_NS && body && call && more.length === 0)
    return { envelope, body, call, [Symbol.dispose]: () => document.dispose() };
  document.dispose();
  throw new GatewayRefused('Invalid SOAP envelope');
}

function parseEnvelope(bytes: Uint8Array): XmlDocument {
  try {
    return parseXml(bytes);
  } catch (error) {
    if (error instanceof XmlRefused) throw new GatewayRefused('Malformed content (from client)');
    throw error;
  }
}
