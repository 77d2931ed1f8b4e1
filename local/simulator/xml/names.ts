/** Namespaces of the documents that the authority reads and writes. */
export const CFE_NS = 'http://cfe.dgi.gub.uy';
export const SERVICES_NS = 'http://dgi.gub.uy';
export const REGISTRY_NS = 'DGI_Modernizacion_Consolidado';
export const RATES_NS = 'Cotiza';
export const FAULTS_NS = 'http://dgi.gub.uy/faults';
export const SOAP_NS = 'http://schemas.xmlsoap.org/soap/envelope/';
export const DS_NS = 'http://www.w3.org/2000/09/xmldsig#';
const WSS = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-';
export const WSSE_NS = `${WSS}wssecurity-secext-1.0.xsd`;
export const WSU_NS = `${WSS}wssecurity-utility-1.0.xsd`;
export const X509_TOKEN = `${WSS}x509-token-profile-1.0#X509v3`;
export const BASE64_BINARY = `${WSS}soap-message-security-1.0#Base64Binary`;

/** Algorithms of signatures. */
export const C14N = 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315';
export const EXC_C14N = 'http://www.w3.org/2001/10/xml-exc-c14n#';
export const ENVELOPED = `${DS_NS}enveloped-signature`;
export const RSA_SHA1 = `${DS_NS}rsa-sha1`;
export const SHA1 = `${DS_NS}sha1`;

/** Hash by signature method; any other method is refused. */
export const SIGNATURE_METHODS: ReadonlyMap<string, 'sha1' | 'sha256'> = new Map([
  [RSA_SHA1, 'sha1'],
  ['http://www.w3.org/2001/04/xmldsig-more#rsa-sha256', 'sha256'],
]);
/** Hash by digest method; any other method is refused. */
export const DIGEST_METHODS: ReadonlyMap<string, 'sha1' | 'sha256'> = new Map([
  [SHA1, 'sha1'],
  ['http://www.w3.org/2001/04/xmlenc#sha256', 'sha256'],
]);
