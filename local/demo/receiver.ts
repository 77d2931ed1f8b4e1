import type { IncomingHttpHeaders } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { NotOurs, verifyWebhook } from '../../sdk/src/index.ts';
import { issueLocalCertificate } from './localCertificate.ts';

/** An event as a customer's server gets it (docs/contract.md#webhooks). */
export interface DemoEvent {
  event: string;
  timestamp: string;
  data: Record<string, unknown>;
}

/** A customer's server for events, on this machine. */
export interface DemoReceiver {
  url: string;
  /** What came, each message once, in the order in which it came. */
  events: DemoEvent[];
  /** From now on only what this secret signed is taken. */
  trust(secret: string): void;
  close(): Promise<void>;
}

/** An HTTPS server on 127.0.0.1 with a certificate from the local stack's authority; it takes what is signed. */
export async function startReceiver(authority: {
  certificatePem: string;
  keyPem: string;
}): Promise<DemoReceiver> {
  const events: DemoEvent[] = [];
  const seen = new Set<string>();
  let secret = '';
  /** The status with which a message is answered. */
  async function take(body: Buffer, headers: IncomingHttpHeaders): Promise<204 | 401> {
    try {
      const { id, ...event } = await verifyWebhook({ body, headers }, secret);
      // A message may come twice; its id tells.
      if (!seen.has(id)) events.push(event);
      seen.add(id);
      return 204;
    } catch (error) {
      if (error instanceof NotOurs) return 401;
      throw error;
    }
  }
  const server = createServer(await issueLocalCertificate(authority), (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      void take(Buffer.concat(chunks), request.headers).then((status) => response.writeHead(status).end());
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/demo`,
    events,
    trust: (given) => {
      secret = given;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
