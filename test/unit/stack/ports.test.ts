import { createServer, type Server } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { choosePorts, isFree } from '../../../local/stack/processes/ports.ts';

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await new Promise((done) => server.close(done));
});

/** A port with a free one after it, and a listener on it. */
async function aTakenPort(host = '127.0.0.1'): Promise<number> {
  const wish = { variable: 'X', purpose: 'x', port: 0, explicit: false };
  for (;;) {
    const [port = 0] = await choosePorts([wish], () => undefined);
    if (!(await isFree(port + 1, '127.0.0.1'))) continue;
    const server = createServer();
    servers.push(server);
    await new Promise<void>((done) => server.listen(port, host, done));
    return port;
  }
}

describe('choosing ports', () => {
  test.each(['127.0.0.1', '0.0.0.0'])(
    'a default that somebody on %s has taken moves to the next free one and says so',
    async (host) => {
      const port = await aTakenPort(host);
      const said: string[] = [];

      const chosen = await choosePorts(
        [{ variable: 'CFE_API_PORT', purpose: 'the API', port, explicit: false }],
        (line) => said.push(line),
      );

      expect(chosen).toEqual([port + 1]);
      expect(said).toEqual([
        `Port ${port} (the API) is in use; using ${port + 1}. Set CFE_API_PORT to choose another.`,
      ]);
    },
  );

  test('a port that was set and is taken is an error that names the variable', async () => {
    const port = await aTakenPort();

    await expect(
      choosePorts([{ variable: 'CFE_API_PORT', purpose: 'the API', port, explicit: true }], () => undefined),
    ).rejects.toThrow(`CFE_API_PORT is ${port} (the API), but that port is in use.`);
  });

  test('no port is given twice', async () => {
    const port = (await aTakenPort()) + 1;
    const wish = { variable: 'X', purpose: 'x', port, explicit: false };

    const chosen = await choosePorts(
      [wish, wish, { ...wish, port: 0 }, { ...wish, port: 0 }],
      () => undefined,
    );

    expect(new Set(chosen).size).toBe(4);
  });
});
