/**
 * Extracts keys and certificates from a PKCS#12 container (RFC 7292) as DER. Uses node-forge: Node cannot open such files,
 * and OpenSSL 3 refuses old ciphers that certification authorities still use. pkcs12Identity.ts validates the result.
 */
import { pbkdf2Sync } from 'node:crypto';
import forge from 'node-forge';

/** The most rounds of key derivation in one attempt, over all derivations; real files have up to 300,000. */
const MOST_ROUNDS = 600_000;

/** Why a container does not open. */
export type ContainerFailure = 'not_pkcs12' | 'too_costly' | 'wrong_password';

/** The content of a container in DER: PKCS#8 keys and X.509 certificates. */
export type Container =
  | { readonly ok: true; readonly keys: Uint8Array[]; readonly certificates: Uint8Array[] }
  | { readonly ok: false; readonly reason: ContainerFailure };

/** Opens `file`, deriving keys with as many rounds as it demands, up to MOST_ROUNDS. */
export function openContainer(file: Uint8Array, password: string): Container {
  let pfx: forge.asn1.Asn1;
  try {
    pfx = forge.asn1.fromDer(forge.util.createBuffer(Buffer.from(file).toString('latin1')));
  } catch {
    return { ok: false, reason: 'not_pkcs12' };
  }
  spentRounds = 0;
  try {
    return { ok: true, ...contentsOf(parse(pfx, password)) };
  } catch (error) {
    if (error instanceof TooCostly) return { ok: false, reason: 'too_costly' };
    // Without a MAC a wrong password shows only by undecodable content.
    const wrong = (isPfx(pfx) && !hasMac(pfx)) || isAboutMac(error) || isAboutDecryption(error);
    return { ok: false, reason: wrong ? 'wrong_password' : 'not_pkcs12' };
  } finally {
    spentRounds = null;
  }
}

class TooCostly extends Error {}

/** Rounds spent on the open file; a thread opens one file at a time. Null: no file is open, and no limit applies. */
let spentRounds: number | null = null;

/** The hash function of a derivation in forge; undefined: SHA-1. */
type Hash = { readonly algorithm: string; readonly digestLength: number } | undefined;

function spend(rounds: number, bytes: number, hash: Hash): void {
  if (spentRounds === null) return;
  // forge reads a four-byte count as signed: a negative count would give the file credit for later ones.
  if (!(rounds >= 1)) throw new TooCostly();
  const { digestLength } = hash ?? { digestLength: 20 };
  // A round of SHA-384 or SHA-512 takes twice the time; in forge SHA-1 takes no less than SHA-256.
  const weight = digestLength > 32 ? 2 : 1;
  spentRounds += rounds * Math.ceil(bytes / digestLength) * weight;
  if (spentRounds > MOST_ROUNDS) throw new TooCostly();
}

/**
 * Every key derivation of forge goes through these functions, also for nested encrypted parts, so rounds are counted
 * before they run. PBKDF2 runs in Node, in a tenth of the time.
 */
interface Derivations {
  pbe: { generatePkcs12Key: Pkcs12Derivation };
  pkcs12: { generateKey: Pkcs12Derivation };
  pkcs5: { pbkdf2: (password: string, salt: string, rounds: number, bytes: number, hash: Hash) => string };
}
type Pkcs12Derivation = (
  password: string,
  salt: forge.util.ByteBuffer,
  purpose: number,
  rounds: number,
  bytes: number,
  hash: Hash,
) => forge.util.ByteBuffer;

const derivations = forge as unknown as Derivations;
const { generatePkcs12Key } = derivations.pbe;
const counted: Pkcs12Derivation = (password, salt, purpose, rounds, bytes, hash) => {
  spend(rounds, bytes, hash);
  return generatePkcs12Key(password, salt, purpose, rounds, bytes, hash);
};
derivations.pbe.generatePkcs12Key = counted;
derivations.pkcs12.generateKey = counted;
derivations.pkcs5.pbkdf2 = (password, salt, rounds, bytes, hash) => {
  spend(rounds, bytes, hash);
  const [secret, saltBytes] = [Buffer.from(password, 'latin1'), Buffer.from(salt, 'latin1')];
  return pbkdf2Sync(secret, saltBytes, rounds, bytes, hash?.algorithm ?? 'sha1').toString('latin1');
};

/**
 * forge passes the password to PBES2 as Latin-1 instead of UTF-8 (RFC 8018 §3), but correctly to the MAC (BMPString). So a
 * non-ASCII password with a valid MAC gets a second attempt, as UTF-8 and without the MAC, after any error: one time in
 * 256 the wrong key gives valid padding and fails only as ASN.1.
 */
function parse(pfx: forge.asn1.Asn1, password: string): forge.pkcs12.Pkcs12Pfx {
  try {
    return forge.pkcs12.pkcs12FromAsn1(pfx, password);
  } catch (error) {
    if (isAscii(password) || isAboutMac(error) || error instanceof TooCostly) throw error;
    // The second attempt has its own limit: a file may cost twice as much.
    spentRounds = 0;
    const withoutMac = { ...pfx, value: childrenOf(pfx).slice(0, 2) };
    return forge.pkcs12.pkcs12FromAsn1(withoutMac, forge.util.encodeUtf8(password));
  }
}

const hasMac = (pfx: forge.asn1.Asn1): boolean => childrenOf(pfx).length > 2;
const isAscii = (text: string): boolean => Buffer.byteLength(text) === text.length;

/** forge's errors differ only in their messages. */
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

/** Keys that forge does not support (elliptic curves) are available as ASN.1. */
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
const isUniversal = (node: forge.asn1.Asn1 | undefined, type: forge.asn1.Type): boolean =>
  node?.type === type && node.tagClass === Class.UNIVERSAL;

/** True if `node` has the form of a PFX: version and authSafe. */
function isPfx(node: forge.asn1.Asn1): boolean {
  const [version, authSafe] = childrenOf(node);
  return (
    isUniversal(node, Type.SEQUENCE) &&
    isUniversal(version, Type.INTEGER) &&
    isUniversal(authSafe, Type.SEQUENCE)
  );
}

function childrenOf(node: forge.asn1.Asn1): forge.asn1.Asn1[] {
  return Array.isArray(node.value) ? node.value : [];
}
