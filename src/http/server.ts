/** The HTTP server under the application: time-outs, malformed requests and graceful shutdown. */

import { randomUUID } from 'node:crypto';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';
import type { RefusalCode } from '../errors.ts';

/** Limits how long a request occupies a connection. keepAlive: above a load balancer's usual 60 s. */
const TIMEOUTS = {
  headersTimeout: 15_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 5_000,
} as const;
const REQUESTS_PER_CONNECTION = 1_000;
const CONNECTIONS = 2_000;

/** Creates a server that does not listen yet. Answers requests that the HTTP parser refuses with the error envelope, too. */
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
      // `server.close` closes only the connections that are idle at that moment; this closes the others later.
      if (!server.listening) setImmediate(() => server.closeIdleConnections());
    });
    listener(request, response);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    // The client would read a second answer as part of the answer that is being written.
    const busy = (answering.get(socket) ?? 0) > 0;
    if (busy || !socket.writable || error.code === 'ECONNRESET') socket.destroy();
    else socket.end(refusalOf(error.code), () => socket.destroySoon());
  });
  return server;
}

type ParserRefusal = readonly [status: string, code: RefusalCode, message: string];
const NO_REQUEST: ParserRefusal = [
  '400 Bad Request',
  'INVALID_INPUT',
  'The bytes received are not an HTTP request.',
];
/** By error code of the HTTP parser. */
const PARSER_REFUSALS: Readonly<Record<string, ParserRefusal>> = {
  HPE_HEADER_OVERFLOW: [
    '431 Request Header Fields Too Large',
    'HEADERS_TOO_LARGE',
    'The headers of the request are too large.',
  ],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'REQUEST_TIMEOUT', 'The request did not arrive in time.'],
};

/** Returns a complete HTTP response to a malformed request. */
function refusalOf(code: string | undefined): string {
  const [status, refusal, message] = PARSER_REFUSALS[code ?? ''] ?? NO_REQUEST;
  const body = { error: { code: refusal, message } };
  const text = JSON.stringify(body);
  return [
    `HTTP/1.1 ${status}`,
    'Connection: close',
    'Cache-Control: no-store',
    'Content-Language: en',
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(text)}`,
    `X-Request-Id: ${randomUUID()}`,
    '',
    text,
  ].join('\r\n');
}

/** Starts listening and returns the port. Rejects if the port is taken or the address is not this machine's. */
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

/** Stops accepting requests and waits at most `graceMilliseconds` for running ones. */
export async function closeServer(server: Server, graceMilliseconds: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  const timer = setTimeout(() => server.closeAllConnections(), graceMilliseconds);
  await promise;
  clearTimeout(timer);
}
