import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Registry } from 'prom-client';

/**
 * Starts a small server for supervisors: /livez (the event loop runs), /readyz (`ready` is true, `missing` is
 * null), /metrics (in Prometheus' text format). Returns its port and a function that closes it.
 */
export async function serveHealth(options: {
  host: string;
  port: number;
  ready: () => Promise<boolean>;
  missing?: () => string | null;
  metrics: () => Promise<string>;
}): Promise<{ port: number; close(): Promise<void> }> {
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.url === '/livez') {
      response.writeHead(200, { 'content-type': 'text/plain' }).end('ok\n');
    } else if (request.url === '/readyz') {
      const ready = await options.ready();
      const missing = options.missing?.() ?? null;
      response
        .writeHead(ready ? 200 : 503, { 'content-type': 'text/plain' })
        .end(ready ? 'ok\n' : missing === null ? 'not ready\n' : `not ready: ${missing}\n`);
    } else if (request.url === '/metrics') {
      const metrics = await options.metrics();
      response.writeHead(200, { 'content-type': Registry.PROMETHEUS_CONTENT_TYPE }).end(metrics);
    } else {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('not here\n');
    }
  };
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.writeHead(500).end());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
