/**
 * Takes keys and certificates out of a PKCS#12 container (RFC 7292) as DER. node-forge serves for this alone: Node
 * cannot open such files, and OpenSSL 3 refuses the old ciphers that certification authorities still use. Whether key
 * and certificate are sound is judged by node:crypto (pkcs12.ts).
 */
import forge from 'node-forge';

/** Derivations of keys from the password cost a round each; files in use have 1 to 600,000. */
const MOST_ITERATIONS = 1_000_000;

/** Why a container does not open. */
export type ContainerFailure = 'not_pkcs12' | 'too_costly' | 'wrong_password';

/** What a container holds, each in DER: PKCS#8 keys and X.509 certificates. */
export type Container =
  | { readonly ok: true; readonly keys: Uint8Array[]; readonly certificates: Uint8Array[] }
  | { readonly ok: false; readonly reason: ContainerFailure };

/** The contents of `file`; runs as long as the file's iteration counts demand. */
export function openContainer(file: Uint8Array, password: string): Container {
  let pfx: forge.asn1.Asn1;
  try {
    pfx = forge.asn1.fromDer(forge.util.createBuffer(Buffer.from(file).toString('latin1')));
    if (costOf(pfx) > MOST_ITERATIONS) return { ok: false, reason: 'too_costly' };
  } catch {
    return { ok: false, reason: 'not_pkcs12' };
  }
  try {
    return { ok: true, ...contentsOf(parse(pfx, password)) };
  } catch (error) {
    // Without a MAC nothing but the rubbish that comes out tells of a wrong password.
    const wrong = !hasMac(pfx) || isAboutMac(error) || isAboutDecryption(error);
    return { ok: false, reason: wrong ? 'wrong_password' : 'not_pkcs12' };
  }
}

/**
 * forge passes the password to PBES2 as Latin-1 where UTF-8 is asked for (RFC 8018 §3), while the MAC takes it right
 * (as BMPString). So a password beyond ASCII whose MAC holds gets a second try, as UTF-8 and without the MAC.
 */
function parse(pfx: forge.asn1.Asn1, password: string): forge.pkcs12.Pkcs12Pfx {
  try {
    return forge.pkcs12.pkcs12FromAsn1(pfx, password);
  } catch (error) {
    if (!isAboutDecryption(error) || isAscii(password)) throw error;
    const withoutMac = { ...pfx, value: childrenOf(pfx).slice(0, 2) };
    return forge.pkcs12.pkcs12FromAsn1(withoutMac, forge.util.encodeUtf8(password));
  }
}

const hasMac = (pfx: forge.asn1.Asn1): boolean => childrenOf(pfx).length > 2;
const isAscii = (text: string): boolean => Buffer.byteLength(text) === text.length;

/** forge tells its failures apart by their words alone. */
const isAboutMac = (error: unknown): boolean =>
  messageOf(error).startsWith('PKCS#12 MAC could not be verified');
const isAboutDecryption = (error: unknown): boolean => /decrypt/i.test(messageOf(error));
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : '');

function contentsOf(pfx: forge.pkcs12.Pkcs12Pfx): { keys: Uint8Array[]; certificates: Uint8Array[] } {
  const { keyBag, pkcs8ShroudedKeyBag, certBag } = forge.pki.oids;
  const bags = pfx.safeContents.flatMap(({ safeBags }) => safeBags);
  return {
    keys: bags.filter(({ type }) => type === keyBag || type === pkcs8ShroudedKeyBag).flatMap(keyOf),
    certificates: bags.filter(({ type }) => type === certBag).flatMap(certificateOf),
  };
}

/** A key that forge does not know itself (elliptic curves) is there as ASN.1. */
function keyOf({ key, asn1 }: forge.pkcs12.Bag): Uint8Array[] {
  if (key) return [derOf(forge.pki.wrapRsaPrivateKey(forge.pki.privateKeyToAsn1(key)))];
  return asn1 ? [derOf(asn1)] : [];
}

function certificateOf({ cert, asn1 }: forge.pkcs12.Bag): Uint8Array[] {
  if (asn1) return [derOf(asn1)];
  return cert ? [derOf(forge.pki.certificateToAsn1(cert))] : [];
}

const derOf = (node: forge.asn1.Asn1): Uint8Array => Buffer.from(forge.asn1.toDer(node).getBytes(), 'latin1');

const { Type, Class } = forge.asn1;
const isSequence = (node: forge.asn1.Asn1 | undefined): boolean =>
  node?.type === Type.SEQUENCE && node.tagClass === Class.UNIVERSAL;
const isOctets = (node: forge.asn1.Asn1 | undefined): boolean =>
  node?.type === Type.OCTETSTRING && node.tagClass === Class.UNIVERSAL;
const isInteger = (node: forge.asn1.Asn1 | undefined): boolean =>
  node?.type === Type.INTEGER && node.tagClass === Class.UNIVERSAL;

/**
 * The greatest iteration count that stands in the clear: parameters of PBE and PBKDF2 (salt, count, …), MacData
 * (digest, salt, count). Throws when the file is not a PFX.
 */
function costOf(pfx: forge.asn1.Asn1): number {
  const [version, authSafe] = childrenOf(pfx);
  if (!isSequence(pfx) || !isInteger(version) || !isSequence(authSafe)) throw new TypeError('not a PFX');
  let cost = 0;
  const open: forge.asn1.Asn1[] = [pfx];
  for (let node = open.pop(); node; node = open.pop()) {
    const children = childrenOf(node);
    const [first, second, third] = children;
    if (isSequence(node) && isOctets(first) && isInteger(second)) cost = Math.max(cost, countOf(second));
    if (isSequence(node) && isSequence(first) && isOctets(second) && isInteger(third))
      cost = Math.max(cost, countOf(third));
    open.push(...children);
    if (isOctets(node) && typeof node.value === 'string') open.push(...innerOf(node.value));
  }
  return cost;
}

function childrenOf(node: forge.asn1.Asn1): forge.asn1.Asn1[] {
  return Array.isArray(node.value) ? node.value : [];
}

/** What an OCTET STRING holds, when that is ASN.1 again: the safes are packed this way. */
function innerOf(octets: string): forge.asn1.Asn1[] {
  try {
    return [forge.asn1.fromDer(forge.util.createBuffer(octets))];
  } catch {
    return [];
  }
}

/** An INTEGER of more than six bytes counts as endless. */
function countOf(node: forge.asn1.Asn1 | undefined): number {
  const bytes = Buffer.from(typeof node?.value === 'string' ? node.value : '', 'latin1');
  return bytes.length === 0 || bytes.length > 6
    ? Number.POSITIVE_INFINITY
    : bytes.readUIntBE(0, bytes.length);
}
