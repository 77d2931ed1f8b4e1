import { createHmac, randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { Decimal, NotOurs, verifyWebhook } from '../../../sdk/src/index.ts';

const NOW = new Date('2026-11-20T15:00:00.000Z');
const key = randomBytes(32);
const secret = `whsec_${key.toString('base64')}`;
const BODY =
  '{"event":"payment.created","timestamp":"2026-11-20T15:00:00.000Z","data":{"payment_id":"p","amount":990.50}}';

function signed(body = BODY, at = NOW): Record<string, string> {
  const [id, timestamp] = ['0c0e1ab1-0000-4000-8000-000000000001', String(at.getTime() / 1_000)];
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,AAAA v1,${signature}` };
}

describe('verifyWebhook', () => {
  test('answers the event of a message that is ours, its amounts exact', async () => {
    const event = await verifyWebhook({ body: Buffer.from(BODY), headers: signed() }, secret, { now: NOW });
    expect(event).toMatchObject({ event: 'payment.created', id: '0c0e1ab1-0000-4000-8000-000000000001' });
    if (event.event !== 'payment.created') throw new Error(event.event);
    expect(event.data.amount).toBeInstanceOf(Decimal);
    expect(String(event.data.amount)).toBe('990.50');
  });

  test('takes one of two secrets while one is being changed, and Headers as fetch has them', async () => {
    const old = `whsec_${randomBytes(32).toString('base64')}`;
    const headers = new Headers(signed());
    await expect(verifyWebhook({ body: BODY, headers }, [old, secret], { now: NOW })).resolves.toBeTruthy();
    await expect(verifyWebhook({ body: BODY, headers }, [old], { now: NOW })).rejects.toThrow(NotOurs);
  });

  test('takes names of headers in capitals too, as some servers and proxies write them', async () => {
    const headers = Object.fromEntries(
      Object.entries(signed()).map(([name, value]) => [name.toUpperCase(), value]),
    );
    await expect(verifyWebhook({ body: BODY, headers }, secret, { now: NOW })).resolves.toBeTruthy();
  });

  test.each([
    ['one byte of the body is another', { body: BODY.replace('990', '991'), headers: signed() }],
    [
      'it is older than five minutes',
      { body: BODY, headers: signed(BODY, new Date(NOW.getTime() - 301_000)) },
    ],
    ['it is of the future', { body: BODY, headers: signed(BODY, new Date(NOW.getTime() + 301_000)) }],
    ['a header is missing', { body: BODY, headers: { ...signed(), 'webhook-id': undefined } }],
    ['the time is none', { body: BODY, headers: { ...signed(), 'webhook-timestamp': 'now' } }],
    ['the signature is no base64', { body: BODY, headers: { ...signed(), 'webhook-signature': 'v1,%%%' } }],
    ['there is none', { body: BODY, headers: { ...signed(), 'webhook-signature': '' } }],
  ])('refuses a message where %s', async (_, message) => {
    await expect(verifyWebhook(message, secret, { now: NOW })).rejects.toThrow(NotOurs);
  });
});
