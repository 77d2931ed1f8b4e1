import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { Chance } from './chance.ts';

/** The authority behind a bad line: what is sent arrives, and a share of its answers is lost. */
export interface LossyAuthority {
  /** In place of the simulator's. */
  url: string;
  answers(): { lost: number; passed: number };
  close(): Promise<void>;
}

/** Passes everything on to `target`; an answer that is lost ends as a connection that breaks. */
export async function startLossyAuthority(
  target: string,
  share: number,
  chance: Chance,
): Promise<LossyAuthority> {
  const count = { lost: 0, passed: 0 };
  async function serve(near: IncomingMessage, response: ServerResponse): Promise<void> {
    // The simulator may be killed meanwhile.
    const answer = await passOn(near, target).catch(() => null);
    const isLost = answer !== null && chance.happens(share);
    if (isLost) count.lost += 1;
    if (answer === null || isLost) {
      near.socket.destroy();
      return;
    }
    count.passed += 1;
    response.writeHead(answer.status, answer.headers).end(answer.body);
  }
  const server = createServer((near, response) => void serve(near, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answers: () => ({ ...count }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function passOn(
  near: IncomingMessage,
  target: string,
): Promise<{ status: number; headers: Record<string, string>; body: Buffer }> {
  const sent = await buffer(near);
  const far = httpRequest(`${target}${near.url ?? '/'}`, {
    method: near.method ?? 'POST',
    headers: { ...near.headers, host: new URL(target).host },
  });
  const answer = new Promise<IncomingMessage>((resolve, reject) => {
    far.once('response', resolve);
    far.once('error', reject);
  });
  far.end(sent);
  const response = await answer;
  const body = await buffer(response);
  const type = response.headers['content-type'] ?? 'text/plain';
  return { status: response.statusCode ?? 502, headers: { 'content-type': type }, body };
}
