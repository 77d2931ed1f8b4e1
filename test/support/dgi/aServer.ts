import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the server does with a request whose body it has read. */
export type Behaviour = (response: ServerResponse, request: IncomingMessage) => void;

/** Answers with a text. */
export const answers =
  (body: string | Uint8Array, more: { status?: number; headers?: Record<string, string> } = {}): Behaviour =>
  (response) => {
    response.writeHead(more.status ?? 200, { 'content-type': 'text/xml', ...more.headers });
    response.end(body);
  };

/** A local HTTP server that stands for the authority; each test says how it behaves. */
export async function aServer() {
  let behave: Behaviour = answers('');
  const requests: { headers: IncomingMessage['headers']; body: string; url: string | undefined }[] = [];
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      requests.push({
        headers: request.headers,
        body: Buffer.concat(chunks).toString('utf8'),
        url: request.url,
      });
      behave(response, request);
    });
  });
  // Longer than any client keeps one: whoever closes a connection first is the client.
  server.keepAliveTimeout = 60_000;
  const connections = { opened: 0, open: 0 };
  server.on('connection', (socket) => {
    connections.opened += 1;
    connections.open += 1;
    socket.once('close', () => (connections.open -= 1));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // a TCP server's address is never a pipe's name
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    /** Of clients, so far and now. */
    connections,
    behaves(next: Behaviour) {
      behave = next;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
