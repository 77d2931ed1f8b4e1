import { createHmac } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { apiKeyPrefix, createApiKeys, parseApiKey } from '../../../src/crypto/apiKeys.ts';
import { aPepper } from '../../support/database/pepper.ts';

const pepper = aPepper('p1');
const keys = createApiKeys([pepper]);

describe('an API key', () => {
  test.each([
    ['production', 'cfe_live_'],
    ['sandbox', 'cfe_test_'],
  ] as const)('for %s begins with %s', (environment, prefix) => {
    const { text, publicId } = keys.create(environment);

    expect(text).toMatch(/^cfe_(live|test)_[0-9A-Za-z]{12}_[0-9A-Za-z]{49}$/);
    expect(text.startsWith(prefix)).toBe(true);
    expect(parseApiKey(text)).toEqual({ publicId, environment });
    expect(apiKeyPrefix({ publicId, environment })).toBe(text.slice(0, 21));
  });

  test('is never made twice', () => {
    const made = new Set(Array.from({ length: 1000 }, () => keys.create('sandbox').publicId));

    expect(made.size).toBe(1000);
  });

  test('is stored as a hash that the pepper keys', () => {
    const { text, hash } = keys.create('production');

    expect(hash.toString('latin1')).toMatch(/^p1:[^]{32}$/);
    expect(hash).toEqual(keys.hashOf(text));
    expect(hash).not.toEqual(createApiKeys([aPepper('p1')]).hashOf(text));
    expect(hash.subarray('p1:'.length)).not.toEqual(createHmac('sha256', pepper.key).update(text).digest());
  });

  test('matches its own hash and no other', () => {
    const one = keys.create('production');
    const other = keys.create('production');

    expect(keys.matches(one.text, one.hash)).toBe(true);
    expect(keys.matches(one.text, other.hash)).toBe(false);
    expect(keys.matches(one.text, null)).toBe(false);
    expect(keys.matches(one.text, Buffer.alloc(5))).toBe(false);
  });

  test('made under an older pepper matches while that one is configured; a new one is made under the first', () => {
    const old = keys.create('production');
    const newer = aPepper('p2');
    const rotated = createApiKeys([newer, pepper]);

    expect(rotated.matches(old.text, old.hash)).toBe(true);
    expect(rotated.matches(keys.create('production').text, old.hash)).toBe(false);
    expect(rotated.create('production').hash.toString('latin1')).toMatch(/^p2:/);
    expect(createApiKeys([newer]).matches(old.text, old.hash)).toBe(false);
    // Another key under the id of the old one.
    expect(createApiKeys([newer, aPepper('p1')]).matches(old.text, old.hash)).toBe(false);
  });
});

describe('parseApiKey', () => {
  const { text } = keys.create('production');

  test('finds every single mistyped character by the checksum', () => {
    const mistyped = Array.from(
      text,
      (character, i) => text.slice(0, i) + (character === 'x' ? 'y' : 'x') + text.slice(i + 1),
    );

    expect(mistyped.filter((one) => parseApiKey(one) !== null)).toEqual([]);
  });

  test.each([
    '',
    'cfe_live_',
    `${text} `,
    `${text}\n`,
    text.slice(0, -1),
    `${text}0`,
    text.replace('live', 'test'),
    text.toLowerCase(),
  ])('does not take %j for a key', (wrong) => {
    expect(parseApiKey(wrong)).toBeNull();
  });
});
