import type { AddressInfo } from 'node:net';
import { createServer as createTcpServer } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { createServer as createTlsServer } from 'node:tls';
import { afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { createSender, type Sender } from '../../../src/webhooks/send.ts';
import { freePort } from '../../support/processes/services.ts';
import {
  answering,
  aTestAuthority,
  type Receiver,
  startReceiver,
  type TestAuthority,
} from '../../support/webhooks/receiver.ts';

describe('one attempt at a real receiver', () => {
  let authority: TestAuthority;
  let send: Sender;
  const open: { close(): Promise<void> }[] = [];
  beforeAll(async () => {
    authority = await aTestAuthority();
    send = createSender({ localCa: authority.caPem, patienceMilliseconds: 500 });
  });
  afterEach(async () => {
    for (const one of open.splice(0)) await one.close();
  });

  const message = (url: string) => ({ url, headers: { 'webhook-id': 'x' }, body: Buffer.from('{"ñ":1.10}') });
  async function aReceiver(): Promise<Receiver> {
    const receiver = await startReceiver(authority);
    open.push(receiver);
    return receiver;
  }

  test('the exact bytes arrive by POST, with our headers and nothing of a browser', async () => {
    const receiver = await aReceiver();
    receiver.script.push(answering(204));

    const outcome = await send(message(receiver.url('/a/b?c=d')));

    expect(outcome).toMatchObject({ httpStatus: 204, error: null, answer: '' });
    expect(receiver.received).toEqual([
      expect.objectContaining({ method: 'POST', path: '/a/b?c=d', body: '{"ñ":1.10}' }),
    ]);
    const { headers } = receiver.received[0] ?? { headers: {} };
    expect(headers).toMatchObject({ 'webhook-id': 'x', 'content-length': '11', connection: 'close' });
    expect(Object.keys(headers)).not.toEqual(expect.arrayContaining(['cookie']));
  });

  test.each([200, 299, 400, 404, 410, 429, 500, 503])(
    'status %i is told, with the answer',
    async (status) => {
      const receiver = await aReceiver();
      receiver.script.push(answering(status, 'words of the receiver'));

      expect(await send(message(receiver.url()))).toMatchObject({
        httpStatus: status,
        error: null,
        answer: 'words of the receiver',
      });
    },
  );

  test.each([301, 302, 303, 307, 308])(
    'a redirect (%i) is an answer like others and is not followed',
    async (status) => {
      const receiver = await aReceiver();
      receiver.script.push(answering(status, '', { location: receiver.url('/inside') }));

      expect((await send(message(receiver.url()))).httpStatus).toBe(status);
      expect(receiver.received.map(({ path }) => path)).toEqual(['/hooks']);
    },
  );

  test('of a huge answer 4 KiB are kept, and the rest is not waited for', async () => {
    const receiver = await aReceiver();
    let written = 0;
    receiver.script.push((response) => {
      response.writeHead(200);
      const more = (): void => {
        while (!response.destroyed && response.write('x'.repeat(65_536))) written += 65_536;
      };
      response.on('drain', more);
      more();
    });

    const outcome = await send(message(receiver.url()));

    expect(outcome).toMatchObject({ httpStatus: 200, answer: 'x'.repeat(4_096) });
    expect(written).toBeLessThan(100_000_000);
  });

  test('a body that drips makes no failure of a success, and is not waited for', async () => {
    const receiver = await aReceiver();
    receiver.script.push((response) => void response.writeHead(200).write('a\0b'));

    const outcome = await send(message(receiver.url()));

    expect(outcome).toMatchObject({ httpStatus: 200, answer: 'a\u{FFFD}b' });
  });

  test('who says nothing in time has not answered', async () => {
    const receiver = await aReceiver();
    receiver.script.push(() => {});

    const outcome = await send(message(receiver.url()));

    expect(outcome).toMatchObject({ httpStatus: null, error: 'timeout' });
    expect(outcome.milliseconds).toBeGreaterThanOrEqual(490);
  });

  test('unless told otherwise a receiver has 15 seconds to answer, to the millisecond', async () => {
    const receiver = await aReceiver();
    const arrived = new Promise<void>((resolve) => receiver.script.push(() => resolve()));
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'Date', 'performance'] });
    try {
      let ended = false;
      const outcome = createSender({ localCa: authority.caPem })(message(receiver.url())).finally(() => {
        ended = true;
      });
      await arrived;

      jest.advanceTimersByTime(14_999);
      await turn();
      expect(ended).toBe(false);
      jest.advanceTimersByTime(1);

      expect((await outcome).error).toBe('timeout');
    } finally {
      jest.useRealTimers();
    }
  });

  test('who takes the connection and never speaks TLS has not answered', async () => {
    const server = createTcpServer(() => {}).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const sockets: { destroy(): void }[] = [];
    server.on('connection', (socket) => sockets.push(socket));
    open.push({
      close: async () => {
        for (const socket of sockets) socket.destroy();
        server.close();
      },
    });

    const { port } = server.address() as AddressInfo;
    expect((await send(message(`https://127.0.0.1:${port}/`))).error).toBe('timeout');
  });

  test('who hangs up without an answer has not answered', async () => {
    const receiver = await aReceiver();
    receiver.script.push((_, request) => void request.socket.destroy());

    expect(await send(message(receiver.url()))).toMatchObject({ httpStatus: null, error: 'connection' });
  });

  test('nobody there', async () => {
    expect(await send(message(`https://127.0.0.1:${await freePort()}/`))).toMatchObject({
      httpStatus: null,
      error: 'connection_refused',
    });
  });

  test('an answer that is not HTTP', async () => {
    const server = createTlsServer({ cert: authority.cert, key: authority.key }, (socket) => {
      socket.on('error', () => {});
      socket.end('SSH-2.0-OpenSSH\r\n\r\n');
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    open.push({ close: async () => void server.close() });

    const { port } = server.address() as AddressInfo;
    expect((await send(message(`https://127.0.0.1:${port}/`))).error).toBe('bad_answer');
  });

  test('a certificate of an authority that is not ours counts for nothing', async () => {
    const receiver = await aReceiver();
    const { caPem } = await aTestAuthority();

    const outcome = await createSender({ localCa: caPem })(message(receiver.url()));

    expect(outcome).toMatchObject({ httpStatus: null, error: 'tls' });
    expect(receiver.received).toEqual([]);
  });

  test('in production the receiver on this machine is not reached', async () => {
    const receiver = await aReceiver();
    const send = createSender({ resolve: async () => [{ address: '127.0.0.1', family: 4 }] });

    expect((await send(message(receiver.url()))).error).toBe('refused_url');
    expect((await send(message(`https://hooks.example.com:${receiver.port}/`))).error).toBe(
      'blocked_address',
    );
    expect(receiver.received).toEqual([]);
  });
});
