import { createServer, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { webhookUrlFaults } from '../../../src/domain/webhooks/webhook.ts';
import { isPublicAddress } from '../../../src/webhooks/addresses.ts';
import type { Resolver } from '../../../src/webhooks/names.ts';
import { createSender } from '../../../src/webhooks/send.ts';
import { HOSTILE_ANSWERS, HOSTILE_URLS } from '../../support/webhooks/hostile.ts';

const message = (url: string) => ({ url, headers: {}, body: Buffer.from('{}') });
const codesOf = (url: string, localReceivers = false) =>
  webhookUrlFaults(url, { localReceivers }).map(({ code }) => code.replace('webhook.url.', ''));

/** A resolver that answers the same to every name, and counts. */
function answering(...addresses: string[]): Resolver & { asked: () => number } {
  let asked = 0;
  const resolver: Resolver = async () => {
    asked += 1;
    return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  };
  return Object.assign(resolver, { asked: () => asked });
}

describe('a receiver of a customer is on the internet and nowhere else', () => {
  let inner: Server;
  let port = 0;
  let connections = 0;
  beforeAll(async () => {
    inner = createServer((socket) => {
      connections += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => inner.listen(0, '127.0.0.1', resolve));
    port = (inner.address() as { port: number }).port;
  });
  afterAll(() => new Promise<void>((resolve) => inner.close(() => resolve())));

  test('there are more than sixty ways in', () => {
    expect(HOSTILE_URLS.length + HOSTILE_ANSWERS.length).toBeGreaterThan(110);
  });

  test.each(HOSTILE_URLS)('%j is refused when it is written (%s), and never sent to', async (url, code) => {
    const resolve = answering('127.0.0.1');

    expect(codesOf(url)).toContain(code);
    const outcome = await createSender({ resolve })(message(url));

    expect(outcome).toMatchObject({ httpStatus: null, error: 'refused_url', answer: null });
    expect(resolve.asked()).toBe(0);
  });

  test.each(HOSTILE_ANSWERS)('a name that resolves to %j (%s) is refused at the socket', async (address) => {
    const outcome = await createSender({ resolve: answering(address) })(
      message(`https://hooks.example.com:${port}/`),
    );

    expect(isPublicAddress(address)).toBe(false);
    expect(outcome).toMatchObject({ httpStatus: null, error: 'blocked_address', answer: null });
    expect(connections).toBe(0);
  });

  test('a name with a good and a bad address is refused, whichever comes first', async () => {
    for (const addresses of [
      ['1.1.1.1', '127.0.0.1'],
      ['127.0.0.1', '1.1.1.1'],
      ['2606:4700:4700::1111', '::1'],
    ]) {
      const outcome = await createSender({ resolve: answering(...addresses) })(
        message(`https://hooks.example.com:${port}/`),
      );
      expect(outcome.error).toBe('blocked_address');
    }
    expect(connections).toBe(0);
  });

  test('a name that changes its address is looked at anew at every attempt, and once an attempt (rebinding)', async () => {
    const answers = ['10.0.0.1', '127.0.0.1', '::1'];
    let asked = 0;
    const send = createSender({
      resolve: async () => {
        const address = answers[asked++] ?? '127.0.0.1';
        return [{ address, family: address.includes(':') ? 6 : 4 }];
      },
    });

    for (const count of [1, 2, 3]) {
      expect((await send(message(`https://hooks.example.com:${port}/`))).error).toBe('blocked_address');
      expect(asked).toBe(count);
    }
    expect(connections).toBe(0);
  });

  test('a name that does not resolve is a failure of the name', async () => {
    const send = createSender({ resolve: () => Promise.reject(new Error('ENOTFOUND')) });

    expect((await send(message('https://hooks.example.com/'))).error).toBe('dns');
    expect((await createSender({ resolve: answering() })(message('https://hooks.example.com/'))).error).toBe(
      'dns',
    );
  });

  test.each([
    'https://hooks.example.com/',
    'https://hooks.example.com:8443/a/b?c=d',
    'https://hooks.example.com:443',
    'https://xn--and-6ma2c.com.uy/cfe',
    'https://ñandú.com.uy/cfe',
    'https://internal.example.com/',
    'https://1.example.com/',
  ])('%s may be stored', (url) => {
    expect(codesOf(url)).toEqual([]);
  });

  test.each(['8.8.8.8', '1.1.1.1', '190.64.1.1', '2606:4700:4700::1111', '2800:a4::1'])(
    '%s is on the internet',
    (address) => {
      expect(isPublicAddress(address)).toBe(true);
    },
  );

  test('in development this machine may be a receiver, and nothing else of the inside', async () => {
    expect(codesOf('https://127.0.0.1:9000/', true)).toEqual([]);
    expect(codesOf('https://localhost:9000/', true)).toEqual([]);
    for (const url of ['https://127.0.0.2/', 'https://10.0.0.1/', 'https://169.254.169.254/']) {
      expect(codesOf(url, true)).toContain('host');
    }
    expect(codesOf('http://127.0.0.1:9000/', true)).toEqual(['https']);
  });
});
