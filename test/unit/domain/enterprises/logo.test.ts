import { describe, expect, test } from '@jest/globals';
import { readLogo } from '../../../../src/domain/enterprises/logo.ts';
import { A_JPEG, aPng } from '../../../support/console/pictures.ts';

const PNG = aPng(30, 20);
const cut = (bytes: Buffer, by: number) => bytes.subarray(0, bytes.length - by);
const refused = (bytes: Uint8Array) => {
  const read = readLogo(bytes);
  return read.ok ? read : read.words;
};

describe('a logo', () => {
  test('is a complete PNG or JPEG', () => {
    expect(readLogo(PNG)).toEqual({ ok: true, mediaType: 'image/png' });
    expect(readLogo(A_JPEG)).toEqual({ ok: true, mediaType: 'image/jpeg' });
    expect(readLogo(aPng(1000, 1000))).toEqual({ ok: true, mediaType: 'image/png' });
  });

  test.each([
    ['nothing', Buffer.alloc(0), /PNG or JPEG/],
    ['another kind', Buffer.from('<svg/>'), /PNG or JPEG/],
    ['too many bytes', Buffer.alloc(64 * 1024 + 1), /at most 65536 bytes, found 65537/],
    ['too wide', aPng(1001, 10), /1001 × 10/],
    ['without a pixel', aPng(0, 10), /0 × 10/],
    ['a PNG without its end', cut(PNG, 12), /complete PNG/],
    ['a PNG with something behind its end', Buffer.concat([PNG, Buffer.from('x')]), /complete PNG/],
    ['a PNG of its signature alone', PNG.subarray(0, 8), /complete PNG/],
    ['a JPEG without its end', cut(A_JPEG, 2), /complete JPEG/],
    ['a JPEG of its ends alone', Buffer.from([0xff, 0xd8, 0xff, 0xd9]), /complete JPEG/],
  ])('is not %s', (_, bytes, words) => {
    expect(refused(bytes)).toMatch(words);
  });

  test('that is cut off anywhere, or has any byte of its structure changed, is never taken for more than it is', () => {
    for (const whole of [PNG, A_JPEG]) {
      for (let length = 0; length < whole.length; length += 1)
        expect(readLogo(whole.subarray(0, length)).ok).toBe(false);
      for (let place = 0; place < whole.length; place += 1) {
        const changed = Buffer.from(whole);
        changed[place] = 0xff;
        expect(() => readLogo(changed)).not.toThrow();
      }
    }
  });
});
