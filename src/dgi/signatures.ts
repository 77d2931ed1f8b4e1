/** Algorithms and namespaces of our signatures and the authority's (docs/authority/signatures.md). */

export type SignatureHash = 'sha1' | 'sha256';

/** XML Signature, and the prefix of its own algorithms. */
export const DSIG = 'http://www.w3.org/2000/09/xmldsig#';
/** Inclusive C14N 1.0, for documents. */
export const C14N = 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315';
/** Exclusive C14N 1.0, for requests. */
export const EXCLUSIVE_C14N = 'http://www.w3.org/2001/10/xml-exc-c14n#';
export const ENVELOPED = `${DSIG}enveloped-signature`;
export const ALGORITHMS = {
  sha1: { signature: `${DSIG}rsa-sha1`, digest: `${DSIG}sha1` },
  sha256: {
    signature: 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
    digest: 'http://www.w3.org/2001/04/xmlenc#sha256',
  },
} as const satisfies Record<SignatureHash, { signature: string; digest: string }>;

const WSS = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-';
/** WS-Security 1.0. */
export const WSSE = `${WSS}wssecurity-secext-1.0.xsd`;
export const WSU = `${WSS}wssecurity-utility-1.0.xsd`;
export const X509_TOKEN = `${WSS}x509-token-profile-1.0#X509v3`;
export const BASE64_BINARY = `${WSS}soap-message-security-1.0#Base64Binary`;
