import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A server on the way to another one that passes requests on and keeps the answers to itself. */
export interface HoldingProxy {
  /** Of the other server, by way of this one; without a path. */
  url: string;
  /** How many answers it has kept. */
  held(): number;
  close(): Promise<void>;
}

/** Starts one before the server at `target`. */
export async function startHoldingProxy(target: string): Promise<HoldingProxy> {
  const kept: ServerResponse[] = [];
  const keep = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { host: _host, 'content-length': _length, ...headers } = request.headers as Record<string, string>;
    const body = await text(request);
    const answer = await fetch(`${target}${request.url}`, { method: 'POST', headers, body });
    await answer.arrayBuffer();
    kept.push(response);
  };
  const server = createServer((request, response) => {
    keep(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    held: () => kept.length,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
