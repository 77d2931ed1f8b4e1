/** .p12 files that nobody's program writes: what they hold is chosen to hurt whoever opens them. */
import { randomBytes } from 'node:crypto';
import forge from 'node-forge';

const { asn1, pki } = forge;
const { Class, Type } = asn1;

type Node = forge.asn1.Asn1;
/** [0] of a context; its type is a number of the file's own. */
const FIRST = 0;
const sequence = (...children: Node[]): Node => asn1.create(Class.UNIVERSAL, Type.SEQUENCE, true, children);
const identifier = (oid: string): Node =>
  asn1.create(Class.UNIVERSAL, Type.OID, false, asn1.oidToDer(oid).getBytes());
const integer = (bytes: Uint8Array): Node =>
  asn1.create(Class.UNIVERSAL, Type.INTEGER, false, Buffer.from(bytes).toString('latin1'));
const octets = (bytes: string): Node => asn1.create(Class.UNIVERSAL, Type.OCTETSTRING, false, bytes);
const explicit = (child: Node): Node => asn1.create(Class.CONTEXT_SPECIFIC, FIRST, true, [child]);
const derOf = (node: Node): string => asn1.toDer(node).getBytes();

const [DATA, ENCRYPTED_DATA] = ['1.2.840.113549.1.7.1', '1.2.840.113549.1.7.6'];
const [KEY_BAG, CERT_BAG] = ['1.2.840.113549.1.12.10.1.1', '1.2.840.113549.1.12.10.1.3'];
const X509 = '1.2.840.113549.1.9.22.1';
const PBE_3DES = '1.2.840.113549.1.12.1.3';
const DSA = '1.2.840.10040.4.1';

const bag = (type: string, content: Node): Node => sequence(identifier(type), explicit(content));
const dataOf = (...bags: Node[]): Node =>
  sequence(identifier(DATA), explicit(octets(derOf(sequence(...bags)))));
const fileOf = (...contents: Node[]): Buffer => {
  const safe = sequence(identifier(DATA), explicit(octets(derOf(sequence(...contents)))));
  return Buffer.from(derOf(sequence(integer(Buffer.of(3)), safe)), 'latin1');
};
const keyBag = (key: Node): Node => bag(KEY_BAG, key);
const certificateBag = (certificatePem: string): Node =>
  bag(
    CERT_BAG,
    sequence(
      identifier(X509),
      explicit(octets(derOf(pki.certificateToAsn1(pki.certificateFromPem(certificatePem))))),
    ),
  );

/** An odd number of so many bytes, positive and as long as it looks. */
function oddNumber(bytes: number): Buffer {
  const number = randomBytes(bytes);
  number[0] = 0x40 | ((number[0] ?? 0) & 0x3f);
  number[bytes - 1] = (number[bytes - 1] ?? 0) | 1;
  return number;
}

/** A DSA key in PKCS#8 whose public half OpenSSL would compute with a prime and an exponent of so many bytes. */
function dsaKey(bytes: number): Node {
  const parameters = sequence(integer(oddNumber(bytes)), integer(oddNumber(32)), integer(Buffer.of(2)));
  const secret = octets(derOf(integer(oddNumber(bytes))));
  return sequence(integer(Buffer.of(0)), sequence(identifier(DSA), parameters), secret);
}

/** A .p12 without a MAC, with a certificate and a DSA key of so many bytes: 4,096 take OpenSSL some 10 s. */
export const dsaP12 = (certificatePem: string, bytes: number): Buffer =>
  fileOf(dataOf(keyBag(dsaKey(bytes)), certificateBag(certificatePem)));

/** A .p12 with an RSA key, some of its numbers replaced by what `change` returns. */
export function rsaP12(
  { certificatePem, privateKeyPem }: { certificatePem: string; privateKeyPem: string },
  change: (key: forge.pki.rsa.PrivateKey) => Partial<forge.pki.rsa.PrivateKey>,
  times: { keys?: number; certificates?: number } = {},
): Buffer {
  const { keys = 1, certificates = 1 } = times;
  const key = pki.privateKeyFromPem(privateKeyPem);
  const info = pki.wrapRsaPrivateKey(pki.privateKeyToAsn1({ ...key, ...change(key) }));
  return fileOf(
    dataOf(
      ...Array.from({ length: keys }, () => keyBag(info)),
      ...Array.from({ length: certificates }, () => certificateBag(certificatePem)),
    ),
  );
}

/** A .p12 with a part encrypted under a key whose derivation takes `rounds`, four bytes as they stand in the file. */
export function roundsP12(rounds: Uint8Array): Buffer {
  const parameters = sequence(octets('8 bytes!'), integer(rounds));
  const content = asn1.create(Class.CONTEXT_SPECIFIC, FIRST, false, 'x'.repeat(64));
  const encrypted = sequence(identifier(DATA), sequence(identifier(PBE_3DES), parameters), content);
  return fileOf(sequence(identifier(ENCRYPTED_DATA), explicit(sequence(integer(Buffer.of(0)), encrypted))));
}

/** A large odd number for an RSA key. */
export const hugeNumber = (bytes: number): forge.jsbn.BigInteger =>
  new forge.jsbn.BigInteger(oddNumber(bytes).toString('hex'), 16);
