import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { createWebhookSecret, decodeWebhookSecret } from '../../../src/crypto/webhookSecret.ts';
import { signatureHeaders } from '../../../src/webhooks/signature.ts';

describe('signatureHeaders', () => {
  const id = '2b6e1c7e-6f0c-4f8a-9d0a-1f4ce3a0a001';

  test('makes the example of the Standard Webhooks specification, to the byte', () => {
    const headers = signatureHeaders({
      id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      at: new Date(1_614_265_330_000),
      body: Buffer.from('{"test": 2432232314}'),
      secrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
    });

    expect(headers).toEqual({
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    });
  });

  test('verifies with the library, whatever the body', () => {
    fc.assert(
      fc.property(fc.json(), (body) => {
        const secret = createWebhookSecret();
        const headers = signatureHeaders({ id, at: new Date(), body: Buffer.from(body), secrets: [secret] });
        expect(new Webhook(secret).verify(body, { ...headers })).toEqual(JSON.parse(body));
      }),
      { numRuns: 100 },
    );
  });

  test('with two secrets a receiver that holds either of them can tell', () => {
    const [before, after, stranger] = [createWebhookSecret(), createWebhookSecret(), createWebhookSecret()];
    const headers = signatureHeaders({
      id,
      at: new Date(),
      body: Buffer.from('{}'),
      secrets: [after, before],
    });

    for (const secret of [before, after]) {
      expect(new Webhook(secret).verify('{}', { ...headers })).toEqual({});
    }
    expect(() => new Webhook(stranger).verify('{}', { ...headers })).toThrow();
  });

  test('a changed body, id or time does not verify', () => {
    const secret = createWebhookSecret();
    const headers = signatureHeaders({ id, at: new Date(), body: Buffer.from('{"a":1}'), secrets: [secret] });
    const later = String(Number(headers['webhook-timestamp']) + 1);
    const verify = (body: string, other: object) => () =>
      new Webhook(secret).verify(body, { ...headers, ...other });

    expect(verify('{"a":1}', {})()).toEqual({ a: 1 });
    expect(verify('{"a":2}', {})).toThrow();
    expect(verify('{"a":1}', { 'webhook-id': 'another' })).toThrow();
    expect(verify('{"a":1}', { 'webhook-timestamp': later })).toThrow();
  });
});

describe('createWebhookSecret', () => {
  test('is whsec_ and 32 bytes in base64, never the same twice', () => {
    const secrets = Array.from({ length: 20 }, createWebhookSecret);

    expect(new Set(secrets).size).toBe(20);
    for (const secret of secrets) expect(decodeWebhookSecret(secret)).toHaveLength(32);
    expect(secrets[0]).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  });

  test.each(['', 'whsec_', 'whsec_c2hvcnQ=', 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'])(
    '%j is no secret',
    (text) => {
      expect(() => decodeWebhookSecret(text)).toThrow(RangeError);
    },
  );
});
