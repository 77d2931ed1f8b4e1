import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { readConfig } from '../../../src/config.ts';
import { createOpener, createSealer, type SecretOwner, UnsealError } from '../../../src/crypto/sealed.ts';
import { aKeyPair, openerOf } from '../../support/database/sealing.ts';

const first = aKeyPair('k1');
const second = aKeyPair('k2');
const place: SecretOwner = { purpose: 'certificate-key', rut: '219999830019', rowId: 'row-1' };
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
    const { sealer, opener } = first;

    expect(opener.open(sealer.seal(secret, place), place)).toEqual(secret);
  });

  test('may be empty', () => {
    const { sealer, opener } = first;

    expect(opener.open(sealer.seal(Buffer.alloc(0), place), place)).toHaveLength(0);
  });

  test('names its key, shows nothing of the secret, and is never the same twice', () => {
    const { sealer } = first;
    const texts = [sealer.seal(secret, place), sealer.seal(secret, place)];

    expect(texts[0]).toMatch(/^v1\.k1\.[\w-]+\.[\w-]+$/);
    expect(texts[0]).not.toBe(texts[1]);
    expect(texts[0]).not.toContain(secret.toString('base64url'));
  });

  test.each<[string, Partial<SecretOwner>]>([
    ['purpose', { purpose: 'efactura-login' }],
    ['enterprise', { rut: '214844360018' }],
    ['row', { rowId: 'row-2' }],
  ])('does not open for another %s', (_, other) => {
    const { sealer, opener } = first;
    const sealed = sealer.seal(secret, place);

    expect(codeOf(() => opener.open(sealed, { ...place, ...other } as SecretOwner))).toBe('not_authentic');
  });

  test('does not open when places only look alike once joined', () => {
    const { sealer, opener } = first;
    const sealed = sealer.seal(secret, { ...place, rut: 'a', rowId: 'b|c' });

    expect(codeOf(() => opener.open(sealed, { ...place, rut: 'a|b', rowId: 'c' }))).toBe('not_authentic');
  });

  test('does not open with any one character changed', () => {
    const { sealer, opener } = first;
    const sealed = sealer.seal(secret, place);
    const changed = Array.from(sealed, (character, i) => {
      const other = character === 'A' ? 'B' : 'A';
      return sealed.slice(0, i) + other + sealed.slice(i + 1);
    });

    // The last character of a part may carry bits that base64url does not use.
    const opened = changed.filter((text) => codeOf(() => opener.open(text, place)) === 'opened');
    for (const text of opened) {
      const decoded = (one: string) =>
        one
          .split('.')
          .slice(2)
          .map((part) => Buffer.from(part, 'base64url').toString('hex'));
      expect(decoded(text)).toEqual(decoded(sealed));
    }
  });

  test.each([
    '',
    'v1',
    'v1.k1.x.y',
    'v1.k1.AAAA.AAAA',
    'v2.k1.AAAA.AAAA',
    'v1.K1.AAAA.AAAA',
    `v1.k1.${'A'.repeat(80)}`,
  ])('is not %j', (text) => {
    expect(codeOf(() => first.opener.open(text, place))).toBe('malformed');
  });

  test('cannot be opened by what seals it: the public half is no private one', () => {
    const sealed = first.sealer.seal(secret, place);
    const { CFE_SEALING_KEY: published } = readConfig(['CFE_SEALING_KEY'], {
      CFE_SEALING_KEY: first.publicText,
    });

    expect(codeOf(() => createOpener([published]).open(sealed, place))).toBe('not_authentic');
    expect(Object.keys(first.sealer)).toEqual(['seal']);
  });

  test.each([Buffer.alloc(32), Buffer.from([1, ...Buffer.alloc(31)])])(
    'does not open with a public key that shares no secret: %j',
    (key) => {
      const [version, id, , text] = first.sealer.seal(secret, place).split('.');
      const forged = [version, id, key.toString('base64url'), text].join('.');

      expect(codeOf(() => first.opener.open(forged, place))).toBe('not_authentic');
    },
  );
});

describe('rotation of the key pair', () => {
  test('what older pairs sealed still opens, and is sealed anew under the first', () => {
    const before = first.sealer.seal(secret, place);
    const rotated = openerOf(second, first);

    expect(rotated.open(before, place)).toEqual(secret);
    const anew = String(rotated.reseal(before, place));
    expect(anew).toMatch(/^v1\.k2\./);
    expect(second.opener.open(anew, place)).toEqual(secret);
    expect(codeOf(() => second.opener.open(before, place))).toBe('unknown_key');
  });

  test('what stands under the first key stays as it is', () => {
    expect(openerOf(second, first).reseal(second.sealer.seal(secret, place), place)).toBeNull();
  });

  test('another pair under the same id does not open', () => {
    const sealed = first.sealer.seal(secret, place);

    expect(codeOf(() => aKeyPair('k1').opener.open(sealed, place))).toBe('not_authentic');
  });

  test('keys that cannot serve are refused', () => {
    const { opening } = first;

    expect(() => createOpener([])).toThrow(RangeError);
    expect(() => createOpener([opening, { ...second.opening, id: 'k1' }])).toThrow(RangeError);
    expect(() => createOpener([{ ...opening, key: randomBytes(16) }])).toThrow();
    expect(() => createSealer({ id: 'k1', key: randomBytes(16) })).toThrow(RangeError);
  });
});
