/** The HTTP server under the application: time-outs, requests that are not HTTP, and an orderly end. */

import { randomUUID } from 'node:crypto';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';
import type { RefusalCode } from '../errors.ts';

/** No request holds a connection longer than these. keepAlive: above a load balancer's usual 60 s. */
const TIMEOUTS = {
  headersTimeout: 15_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 5_000,
} as const;
const REQUESTS_PER_CONNECTION = 1_000;
const CONNECTIONS = 2_000;

/** A server for `listener`, not listening yet. What the HTTP parser refuses is answered in the envelope too. */
export function createHttpServer(listener: RequestListener): Server {
  const server = createServer(TIMEOUTS);
  server.maxRequestsPerSocket = REQUESTS_PER_CONNECTION;
  server.maxConnections = CONNECTIONS;
  const answering = new WeakMap<Socket, number>();
  server.on('request', (request, response) => {
    const { socket } = request;
    answering.set(socket, (answering.get(socket) ?? 0) + 1);
    response.once('close', () => {
      answering.set(socket, (answering.get(socket) ?? 1) - 1);
      // A closing server closes connections that are idle at that moment; those that become so later are ours to close.
      if (!server.listening) setImmediate(() => server.closeIdleConnections());
    });
    listener(request, response);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    // Behind an answer that is being written, another would be taken for a part of it.
    const busy = (answering.get(socket) ?? 0) > 0;
    if (busy || !socket.writable || error.code === 'ECONNRESET') socket.destroy();
    else socket.end(refusalOf(error.code), () => socket.destroySoon());
  });
  return server;
}

type Why = readonly [status: string, code: RefusalCode, message: string];
const NO_REQUEST: Why = ['400 Bad Request', 'INVALID_INPUT', 'The bytes received are not an HTTP request.'];
/** By the code of what the HTTP parser found. */
const WHY_NOT: Readonly<Record<string, Why>> = {
  HPE_HEADER_OVERFLOW: [
    '431 Request Header Fields Too Large',
    'HEADERS_TOO_LARGE',
    'The headers of the request are too large.',
  ],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'REQUEST_TIMEOUT', 'The request did not arrive in time.'],
};

/** A whole HTTP answer to bytes that are no request. */
function refusalOf(code: string | undefined): string {
  const [status, refusal, message] = WHY_NOT[code ?? ''] ?? NO_REQUEST;
  const body = { error: { code: refusal, message } };
  const text = JSON.stringify(body);
  return [
    `HTTP/1.1 ${status}`,
    'Connection: close',
    'Cache-Control: no-store',
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(text)}`,
    `X-Request-Id: ${randomUUID()}`,
    '',
    text,
  ].join('\r\n');
}

/** Listens; answers the port. Rejects when the port is taken or the address is not of this machine. */
export async function listen(
  server: Server,
  { host, port }: { host: string; port: number },
): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const address = server.address();
  return typeof address === 'object' && address ? address.port : port;
}

/** Stops taking requests and lets those under way finish, for at most `graceMilliseconds`. */
export async function closeServer(server: Server, graceMilliseconds: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  const timer = setTimeout(() => server.closeAllConnections(), graceMilliseconds);
  await promise;
  clearTimeout(timer);
}
