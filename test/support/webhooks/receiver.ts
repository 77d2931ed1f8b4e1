import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { issueLocalCertificate } from '../../../local/demo/localCertificate.ts';
import { openAuthority } from '../../../local/stack/localAuthority.ts';

/** A certificate authority of the test's own, and a server certificate for this machine from it. */
export interface TestAuthority {
  caPem: string;
  cert: string;
  key: string;
}

/** Makes an authority as the local stack does, and a certificate for 127.0.0.1. */
export async function aTestAuthority(): Promise<TestAuthority> {
  const folder = mkdtempSync(join(tmpdir(), 'cfe-ca-'));
  try {
    const files = await openAuthority(folder);
    const caPem = readFileSync(files.certificate, 'utf8');
    const keyPem = readFileSync(files.key, 'utf8');
    return { caPem, ...(await issueLocalCertificate({ certificatePem: caPem, keyPem })) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** One request as the receiver saw it. */
export interface Received {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string;
}

type Behaviour = (response: ServerResponse, request: IncomingMessage) => void;

export interface Receiver {
  /** With a path of the test's own choice. */
  url(path?: string): string;
  port: number;
  received: Received[];
  /** How the next requests are answered, one each; afterwards with 200. */
  script: Behaviour[];
  close(): Promise<void>;
}

/** Answers with a status and a body. */
export const answering =
  (status: number, body = '', headers: Record<string, string> = {}): Behaviour =>
  (response) =>
    void response.writeHead(status, headers).end(body);

/** A real HTTPS server on 127.0.0.1 that keeps what it gets. */
export async function startReceiver(authority: TestAuthority, port = 0): Promise<Receiver> {
  const received: Received[] = [];
  const script: Behaviour[] = [];
  const server = createServer({ cert: authority.cert, key: authority.key }, (request, response) => {
    const chunks: Buffer[] = [];
    response.on('error', () => {});
    request.on('error', () => {});
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      received.push({
        method: request.method ?? '',
        path: request.url ?? '',
        headers: Object.fromEntries(Object.entries(request.headers).map(([k, v]) => [k, String(v)])),
        body: Buffer.concat(chunks).toString('utf8'),
      });
      (script.shift() ?? answering(200))(response, request);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const listening = (server.address() as AddressInfo).port;
  return {
    url: (path = '/hooks') => `https://127.0.0.1:${listening}${path}`,
    port: listening,
    received,
    script,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
