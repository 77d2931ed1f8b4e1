import { X509Certificate } from 'node:crypto';
import forge from 'node-forge';
import { SignedXml } from 'xml-crypto';

const C14N = 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315';
const EXC = 'http://www.w3.org/2001/10/xml-exc-c14n#';
const DS = 'http://www.w3.org/2000/09/xmldsig#';
const ALGORITHMS = {
  sha1: { signature: `${DS}rsa-sha1`, digest: `${DS}sha1` },
  sha256: {
    signature: 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
    digest: 'http://www.w3.org/2001/04/xmlenc#sha256',
  },
} as const;
const WSS = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-';

/** A certificate and its key, as a company holds them. */
export interface Keys {
  readonly certificate: X509Certificate;
  readonly privateKey: string;
}

/** The keys in a .p12 file. */
export function openPkcs12(file: Buffer, password: string): Keys {
  const p12 = forge.pkcs12.pkcs12FromAsn1(forge.asn1.fromDer(file.toString('binary')), password);
  const bag = (type: string) => p12.getBags({ bagType: type })[type]?.[0];
  const certificate = bag(String(forge.pki.oids['certBag']))?.cert;
  const key = bag(String(forge.pki.oids['pkcs8ShroudedKeyBag']))?.key;
  if (!certificate || !key) throw new Error('the .p12 holds no certificate or key');
  return {
    certificate: new X509Certificate(forge.pki.certificateToPem(certificate)),
    privateKey: forge.pki.privateKeyToPem(key),
  };
}

/** A CFE with its enveloped signature, made by xml-crypto. */
export function signCfe(
  xml: string,
  keys: Keys,
  options: { hash?: 'sha1' | 'sha256'; keyInfo?: X509Certificate } = {},
): string {
  const algorithms = ALGORITHMS[options.hash ?? 'sha256'];
  const shown = options.keyInfo ?? keys.certificate;
  const signer = new SignedXml({
    privateKey: keys.privateKey,
    signatureAlgorithm: algorithms.signature,
    canonicalizationAlgorithm: C14N,
    getKeyInfoContent: () =>
      `<X509Data><X509Certificate>${shown.raw.toString('base64')}</X509Certificate><X509IssuerSerial><X509IssuerName>${shown.issuer.split('\n').toReversed().join(', ')}</X509IssuerName><X509SerialNumber>${BigInt(`0x${shown.serialNumber}`)}</X509SerialNumber></X509IssuerSerial></X509Data>`,
  });
  signer.addReference({
    xpath: '/*',
    transforms: [`${DS}enveloped-signature`, C14N],
    digestAlgorithm: algorithms.digest,
    uri: '',
    isEmptyUri: true,
  });
  signer.computeSignature(xml);
  return signer.getSignedXml();
}

/** A sobre around signed CFEs, pasted in as they are. */
export function aSobre(
  cfes: readonly string[],
  order: {
    rut: string;
    receiver: string;
    idemisor: number;
    certificate: X509Certificate;
    count?: number;
    at: string;
  },
): string {
  return [
    '<?xml version="1.0" encoding="UTF-8"?><EnvioCFE xmlns="http://cfe.dgi.gub.uy" version="1.0"><Caratula version="1.0">',
    `<RutReceptor>${order.receiver}</RutReceptor><RUCEmisor>${order.rut}</RUCEmisor><Idemisor>${order.idemisor}</Idemisor>`,
    `<CantCFE>${order.count ?? cfes.length}</CantCFE><Fecha>${order.at}</Fecha>`,
    `<X509Certificate>${order.certificate.raw.toString('base64')}</X509Certificate></Caratula>`,
    ...cfes,
    '</EnvioCFE>',
  ].join('');
}

/** A SOAP envelope with a signed Body. */
export function signEnvelope(inner: string, keys: Keys, options: { hash?: 'sha1' | 'sha256' } = {}): string {
  const algorithms = ALGORITHMS[options.hash ?? 'sha1'];
  const envelope = [
    '<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/"><soapenv:Header>',
    `<wsse:Security xmlns:wsse="${WSS}wssecurity-secext-1.0.xsd" xmlns:wsu="${WSS}wssecurity-utility-1.0.xsd">`,
    `<wsse:BinarySecurityToken wsu:Id="X509-1" EncodingType="${WSS}soap-message-security-1.0#Base64Binary" ValueType="${WSS}x509-token-profile-1.0#X509v3">`,
    `${keys.certificate.raw.toString('base64')}</wsse:BinarySecurityToken></wsse:Security></soapenv:Header>`,
    `<soapenv:Body xmlns:wsu="${WSS}wssecurity-utility-1.0.xsd" wsu:Id="id-1">${inner}</soapenv:Body></soapenv:Envelope>`,
  ].join('');
  const signer = new SignedXml({
    idMode: 'wssecurity',
    privateKey: keys.privateKey,
    signatureAlgorithm: algorithms.signature,
    canonicalizationAlgorithm: EXC,
    getKeyInfoContent: () =>
      `<wsse:SecurityTokenReference xmlns:wsse="${WSS}wssecurity-secext-1.0.xsd"><wsse:Reference URI="#X509-1" ValueType="${WSS}x509-token-profile-1.0#X509v3"/></wsse:SecurityTokenReference>`,
  });
  signer.addReference({
    xpath: "//*[local-name(.)='Body']",
    transforms: [EXC],
    digestAlgorithm: algorithms.digest,
  });
  signer.computeSignature(envelope, {
    prefix: 'ds',
    location: { reference: "//*[local-name(.)='Security']", action: 'append' },
  });
  return signer.getSignedXml();
}
