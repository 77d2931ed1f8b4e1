import { describe, expect, test } from '@jest/globals';
import { decodeJwt, decodeProtectedHeader, importJWK, SignJWT, UnsecuredJWT } from 'jose';
import { createTokens, TOKEN_SECONDS } from '../../../src/crypto/tokens.ts';
import { aTokenKey } from '../../support/api/tokenKey.ts';

const now = new Date('2026-11-20T12:00:00.400Z');
const later = (seconds: number) => new Date(now.getTime() + seconds * 1000);
const claims = { accountId: 'account-1', keyId: 'key-1', environment: 'sandbox' } as const;
const key = aTokenKey('a');

/** A token with the right claims but for `payload` and `header`, signed with `signedBy`. */
async function forged(
  payload: Record<string, unknown>,
  header: Record<string, unknown> = {},
  signedBy = key,
): Promise<string> {
  const issuedAt = Math.floor(now.getTime() / 1000);
  const standard = {
    iss: 'cfe-service',
    aud: 'cfe-api',
    sub: 'key-1',
    jti: 'x',
    iat: issuedAt,
    exp: issuedAt + 60,
  };
  return new SignJWT({ ...standard, account: 'account-1', environment: 'sandbox', ...payload })
    .setProtectedHeader({ alg: 'Ed25519', typ: 'at+jwt', kid: 'a', ...header })
    .sign(await importJWK({ ...signedBy }, 'Ed25519'));
}

describe('an access token', () => {
  test('carries account, key and environment, and says what it is', async () => {
    const token = await (await createTokens([key])).issue(claims, now);

    expect(decodeProtectedHeader(token)).toEqual({ alg: 'Ed25519', typ: 'at+jwt', kid: 'a' });
    expect(decodeJwt(token)).toEqual({
      iss: 'cfe-service',
      aud: 'cfe-api',
      sub: 'key-1',
      account: 'account-1',
      environment: 'sandbox',
      jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
      iat: 1795176000,
      exp: 1795176000 + TOKEN_SECONDS,
    });
  });

  test('is good for an hour and not a second longer', async () => {
    const tokens = await createTokens([key]);
    const token = await tokens.issue(claims, now);

    expect(await tokens.verify(token, later(TOKEN_SECONDS - 1))).toEqual(claims);
    expect(await tokens.verify(token, later(TOKEN_SECONDS))).toBeNull();
  });

  test('stays good while its key verifies, whichever key signs by now', async () => {
    const next = aTokenKey('b');
    const token = await (await createTokens([key])).issue(claims, now);
    const rotated = await createTokens([next, key]);

    expect(await rotated.verify(token, now)).toEqual(claims);
    expect(decodeProtectedHeader(await rotated.issue(claims, now)).kid).toBe('b');
    expect(await (await createTokens([next])).verify(token, now)).toBeNull();
  });

  test('a token made by hand like ours is taken, so that the refusals below mean something', async () => {
    expect(await (await createTokens([key])).verify(await forged({}), now)).toEqual(claims);
  });

  test.each<[string, { payload?: Record<string, unknown>; header?: Record<string, unknown> }]>([
    ['another type', { header: { typ: 'JWT' } }],
    ['no key id', { header: { kid: undefined } }],
    ['an unknown key id', { header: { kid: 'zz' } }],
    ['another issuer', { payload: { iss: 'someone' } }],
    ['another audience', { payload: { aud: 'someone' } }],
    ['no subject', { payload: { sub: undefined } }],
    ['no end', { payload: { exp: undefined } }],
    ['no account', { payload: { account: undefined } }],
    ['an account that is no text', { payload: { account: 7 } }],
    ['an unknown environment', { payload: { environment: 'moon' } }],
    ['a start to come', { payload: { nbf: Math.floor(now.getTime() / 1000) + 60 } }],
  ])('with %s is refused', async (_, { payload = {}, header = {} }) => {
    expect(await (await createTokens([key])).verify(await forged(payload, header), now)).toBeNull();
  });

  test('signed by a stranger under our key id is refused', async () => {
    expect(await (await createTokens([key])).verify(await forged({}, {}, aTokenKey('a')), now)).toBeNull();
  });

  test('unsigned, or signed with the public key as a shared secret, is refused', async () => {
    const tokens = await createTokens([key]);
    const unsigned = new UnsecuredJWT({ account: 'account-1', environment: 'sandbox' })
      .setExpirationTime('1h')
      .encode();
    const symmetric = await new SignJWT({ account: 'account-1', environment: 'sandbox' })
      .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt', kid: 'a' })
      .sign(Buffer.from(key.x, 'base64url'));

    expect(await tokens.verify(unsigned, now)).toBeNull();
    expect(await tokens.verify(symmetric, now)).toBeNull();
  });

  test.each(['', 'x', 'a.b.c', '..', 'eyJhbGciOiJFZDI1NTE5In0.e30.'])('is not %j', async (text) => {
    expect(await (await createTokens([key])).verify(text, now)).toBeNull();
  });

  test('with one character of its signed part changed is refused', async () => {
    const tokens = await createTokens([key]);
    const token = await tokens.issue(claims, now);
    const [header = '', payload = '', signature] = token.split('.');
    const changed = [
      `${header}.${payload.slice(0, -2)}${payload.at(-2) === 'A' ? 'B' : 'A'}${payload.at(-1)}.${signature}`,
      `${header}.${payload}.${signature}A`.replace(/.(.)$/, 'xx'),
    ];

    for (const one of changed) expect(await tokens.verify(one, now)).toBeNull();
  });

  test('needs keys that can be told apart', async () => {
    await expect(createTokens([])).rejects.toThrow(RangeError);
    await expect(createTokens([key, aTokenKey('a')])).rejects.toThrow(RangeError);
  });
});
