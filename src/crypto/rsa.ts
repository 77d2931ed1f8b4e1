/**
 * Checks uploaded keys and certificates before OpenSSL reads them: OpenSSL accepts most kinds of key of any size, and its
 * computation cannot be interrupted. Accepts only RSA of a sane size.
 */

/** Certification authorities issue keys up to 4,096 bits; a signature with 8,192 bits takes some 35 ms. */
const LONGEST_BITS = 8_192;
/** OpenSSL has the same limit for long keys; the usual exponent is 65,537. */
const LARGEST_EXPONENT = 2n ** 64n;
const BITS_PER_BYTE = 8;
/** The structures read here have at most ten sibling elements. */
const MOST_ELEMENTS = 16;

/**
 * True for an RSA key in PKCS#8 (DER) of at most 8,192 bits, with two primes and all numbers in range: OpenSSL computes
 * with any primes and exponents, even with a short modulus. False for malformed keys.
 */
export function isRsaKey(pkcs8: Uint8Array): boolean {
  const [, algorithm, key] = childrenOf(elementsIn(pkcs8)[0], TAGS.sequence);
  const [version, n = 0n, e = 0n, d = 0n, p = 0n, q = 0n, dP = 0n, dQ = 0n, qInv = 0n, ...more] = numbersOf(
    elementsIn(contentOf(key, TAGS.octetString))[0],
  );
  if (!isRsa(algorithm) || version !== 0n || more.length > 0 || !isPublicKey(n, e)) return false;
  return p * q === n && d < n && dP < p && dQ < q && qInv < p;
}

/** True for a certificate (DER) with an RSA key of at most 8,192 bits. False for malformed certificates and for PEM inside. */
export function hasRsaKey(certificate: Uint8Array): boolean {
  // Node searches the whole input for PEM before DER, so it could read a different certificate from the one checked.
  if (Buffer.from(certificate).includes('-----BEGIN')) return false;
  const [signed] = childrenOf(elementsIn(certificate)[0], TAGS.sequence);
  const fields = childrenOf(signed, TAGS.sequence);
  // The key follows the version (omitted for 1), serialNumber, signature, issuer, validity and subject.
  const [algorithm, key] = childrenOf(fields[fields[0]?.tag === TAGS.version ? 6 : 5], TAGS.sequence);
  // The first byte of a bit string is the number of unused bits.
  const [n = 0n, e = 0n] = numbersOf(elementsIn(contentOf(key, TAGS.bitString).subarray(1))[0]);
  return isRsa(algorithm) && isPublicKey(n, e);
}

const isPublicKey = (n: bigint, e: bigint): boolean => n > e && e > 1n && e < LARGEST_EXPONENT;

const TAGS = {
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  identifier: 0x06,
  sequence: 0x30,
  version: 0xa0,
} as const;
/** The object identifier rsaEncryption, 1.2.840.113549.1.1.1. */
const RSA_ENCRYPTION = Buffer.from('2a864886f70d010101', 'hex');

/** Part of a DER encoding. */
interface Element {
  readonly tag: number;
  readonly content: Uint8Array;
}

/** Returns the first elements of `der`, up to an incomplete element. */
function elementsIn(der: Uint8Array): Element[] {
  const elements: Element[] = [];
  for (let offset = 0; offset + 2 <= der.length && elements.length < MOST_ELEMENTS; ) {
    const [tag = 0, short = 0] = der.subarray(offset, offset + 2);
    // From 0x80 on, `short` counts the length bytes that follow.
    const bytes = short < 0x80 ? 0 : short - 0x80;
    const start = offset + 2 + bytes;
    const length = bytes === 0 ? short : Number(numberIn(der.subarray(offset + 2, start)));
    if (bytes > 4 || short === 0x80 || start + length > der.length) break;
    elements.push({ tag, content: der.subarray(start, start + length) });
    offset = start + length;
  }
  return elements;
}

/** Returns the content of an element with this tag; empty for another tag. */
const contentOf = (element: Element | undefined, tag: number): Uint8Array =>
  element?.tag === tag ? element.content : new Uint8Array();

const childrenOf = (element: Element | undefined, tag: number): Element[] =>
  elementsIn(contentOf(element, tag));

function isRsa(algorithm: Element | undefined): boolean {
  const [identifier] = childrenOf(algorithm, TAGS.sequence);
  return RSA_ENCRYPTION.equals(contentOf(identifier, TAGS.identifier));
}

/** Returns the numbers of a sequence of INTEGERs; empty if one is missing, negative, or longer than LONGEST_BITS. */
function numbersOf(sequence: Element | undefined): bigint[] {
  const contents = childrenOf(sequence, TAGS.sequence).map((one) => contentOf(one, TAGS.integer));
  const isShort = (content: Uint8Array): boolean => {
    const [first = 0x80] = content;
    // A leading zero keeps a number with a high first byte positive.
    return first < 0x80 && content.length - (first === 0 ? 1 : 0) <= LONGEST_BITS / BITS_PER_BYTE;
  };
  return contents.every(isShort) ? contents.map(numberIn) : [];
}

const numberIn = (bytes: Uint8Array): bigint => BigInt(`0x0${Buffer.from(bytes).toString('hex')}`);
