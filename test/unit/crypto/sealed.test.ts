import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { createSealer, type SealedFor, UnsealError } from '../../../src/crypto/sealed.ts';

const first = { id: 'k1', key: randomBytes(32) };
const second = { id: 'k2', key: randomBytes(32) };
const place: SealedFor = { purpose: 'certificate-key', rut: '219999830019', rowId: 'row-1' };
const secret = Buffer.from('a private key');

/** The code of the UnsealError that `open` throws. */
function codeOf(open: () => unknown): string {
  try {
    open();
  } catch (error) {
    if (error instanceof UnsealError) return error.code;
    throw error;
  }
  return 'opened';
}

describe('a sealed secret', () => {
  test('opens to what was sealed', () => {
    const sealer = createSealer([first]);

    expect(sealer.open(sealer.seal(secret, place), place)).toEqual(secret);
  });

  test('may be empty', () => {
    const sealer = createSealer([first]);

    expect(sealer.open(sealer.seal(Buffer.alloc(0), place), place)).toHaveLength(0);
  });

  test('names its key, shows nothing of the secret, and is never the same twice', () => {
    const sealer = createSealer([first]);
    const texts = [sealer.seal(secret, place), sealer.seal(secret, place)];

    expect(texts[0]).toMatch(/^v1\.k1\.[\w-]+\.[\w-]+$/);
    expect(texts[0]).not.toBe(texts[1]);
    expect(texts[0]).not.toContain(secret.toString('base64url'));
  });

  test.each<[string, Partial<SealedFor>]>([
    ['purpose', { purpose: 'efactura-login' }],
    ['enterprise', { rut: '214844360018' }],
    ['row', { rowId: 'row-2' }],
  ])('does not open for another %s', (_, other) => {
    const sealer = createSealer([first]);
    const sealed = sealer.seal(secret, place);

    expect(codeOf(() => sealer.open(sealed, { ...place, ...other } as SealedFor))).toBe('not_authentic');
  });

  test('does not open when places only look alike once joined', () => {
    const sealer = createSealer([first]);
    const sealed = sealer.seal(secret, { ...place, rut: 'a', rowId: 'b|c' });

    expect(codeOf(() => sealer.open(sealed, { ...place, rut: 'a|b', rowId: 'c' }))).toBe('not_authentic');
  });

  test('does not open with any one character changed', () => {
    const sealer = createSealer([first]);
    const sealed = sealer.seal(secret, place);
    const changed = Array.from(sealed, (character, i) => {
      const other = character === 'A' ? 'B' : 'A';
      return sealed.slice(0, i) + other + sealed.slice(i + 1);
    });

    // The last character of a part may carry bits that base64url does not use.
    const opened = changed.filter((text) => codeOf(() => sealer.open(text, place)) === 'opened');
    for (const text of opened) {
      const decoded = (one: string) =>
        one
          .split('.')
          .slice(2)
          .map((part) => Buffer.from(part, 'base64url').toString('hex'));
      expect(decoded(text)).toEqual(decoded(sealed));
    }
  });

  test.each(['', 'v1', 'v1.k1.x.y', 'v2.k1.AAAA.AAAA', 'v1.K1.AAAA.AAAA', `v1.k1.${'A'.repeat(80)}`])(
    'is not %j',
    (text) => {
      expect(codeOf(() => createSealer([first]).open(text, place))).toBe('malformed');
    },
  );
});

describe('rotation of the key-encryption key', () => {
  test('the first key seals, and what older keys sealed still opens', () => {
    const old = createSealer([first]).seal(secret, place);
    const rotated = createSealer([second, first]);

    expect(rotated.open(old, place)).toEqual(secret);
    expect(rotated.seal(secret, place)).toMatch(/^v1\.k2\./);
  });

  test('rewrapping leaves the sealed secret alone and frees the old key', () => {
    const old = createSealer([first]).seal(secret, place);

    const rewrapped = createSealer([second, first]).rewrap(old, place);

    expect(rewrapped?.split('.').at(-1)).toBe(old.split('.').at(-1));
    expect(createSealer([second]).open(String(rewrapped), place)).toEqual(secret);
    expect(codeOf(() => createSealer([second]).open(old, place))).toBe('unknown_key');
  });

  test('what stands under the first key needs no rewrapping', () => {
    const sealer = createSealer([second, first]);

    expect(sealer.rewrap(sealer.seal(secret, place), place)).toBeNull();
  });

  test('another key under the same id does not open', () => {
    const sealed = createSealer([first]).seal(secret, place);

    expect(codeOf(() => createSealer([{ id: 'k1', key: second.key }]).open(sealed, place))).toBe(
      'not_authentic',
    );
  });

  test('a list of keys that cannot serve is refused', () => {
    expect(() => createSealer([])).toThrow(RangeError);
    expect(() => createSealer([first, { id: 'k1', key: second.key }])).toThrow(RangeError);
    expect(() => createSealer([{ id: 'k1', key: randomBytes(16) }])).toThrow(RangeError);
  });
});
