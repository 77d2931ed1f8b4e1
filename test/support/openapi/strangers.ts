import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A way to the API on which every request is somebody else's. */
export interface Strangers extends AsyncDisposable {
  readonly baseUrl: string;
}

/**
 * Passes requests on to the API at `baseUrl`, which believes one proxy (CFE_TRUSTED_PROXIES): each as from an address of
 * its own, since whoever fails to authenticate too often hears 429 in place of 401; and with an Idempotency-Key of its
 * own, since of one that was used before nothing else would be judged. Keys that are refused stay as they are.
 */
export async function asStrangers(baseUrl: string): Promise<Strangers> {
  const api = new URL(baseUrl);
  let count = 0;
  const server = createServer((incoming, answer) => {
    count += 1;
    const headers = { ...incoming.headers };
    headers['x-forwarded-for'] = `10.${(count >> 16) & 255}.${(count >> 8) & 255}.${count & 255}`;
    const key = headers['idempotency-key'];
    if (typeof key === 'string' && /^[\x21\x23-\x7e]{1,200}$/.test(key))
      headers['idempotency-key'] = `${key}-${count}`;
    const { method, url: path } = incoming;
    const passed = request({ host: api.hostname, port: api.port, method, path, headers }, (back) => {
      answer.writeHead(back.statusCode ?? 502, back.headers);
      back.pipe(answer);
    });
    passed.once('error', () => answer.destroy());
    incoming.pipe(passed);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}${api.pathname}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
