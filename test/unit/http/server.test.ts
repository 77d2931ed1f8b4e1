import { once } from 'node:events';
import { describe, expect, test } from '@jest/globals';
import { closeServer, createHttpServer, listen } from '../../../src/http/server.ts';

/** A server whose answers wait for `release`. */
async function start() {
  const gate = Promise.withResolvers<void>();
  const server = createHttpServer((_request, response) => void gate.promise.then(() => response.end('done')));
  const port = await listen(server, { host: '127.0.0.1', port: 0 });
  return { server, release: gate.resolve, url: `http://127.0.0.1:${port}/` };
}

describe('the end of the server', () => {
  test('a request in progress is answered, new ones are not taken, and no idle connection holds it up', async () => {
    const { server, release, url } = await start();
    const arrived = once(server, 'request');
    const underWay = fetch(url);
    await arrived;

    // Whatever held it up would do so for longer than a test may take.
    const closed = closeServer(server, 3_600_000);
    await expect(fetch(url)).rejects.toThrow();
    release();

    expect(await (await underWay).text()).toBe('done');
    await closed;
  });

  test('a request that does not end in time is cut', async () => {
    const { server, url } = await start();
    const arrived = once(server, 'request');
    const end = arrived.then(() => closeServer(server, 50));

    const [underWay] = await Promise.allSettled([fetch(url), end]);

    expect(underWay.status).toBe('rejected');
  });
});

test('a port that is taken is an error at once', async () => {
  const { server, url } = await start();
  const port = Number(new URL(url).port);

  await expect(
    listen(
      createHttpServer(() => {}),
      { host: '127.0.0.1', port },
    ),
  ).rejects.toMatchObject({ code: 'EADDRINUSE' });
  await closeServer(server, 0);
});
