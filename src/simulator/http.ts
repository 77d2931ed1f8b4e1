import type { IncomingMessage, ServerResponse } from 'node:http';

/** A request larger than the server takes. */
export class TooLarge extends Error {
  override readonly name = 'TooLarge';
}

/** The whole body of a request; throws TooLarge, and the connection is then of no more use. */
export async function readBody(request: IncomingMessage, mostBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += (chunk as Buffer).length;
    if (size > mostBytes) throw new TooLarge(`more than ${mostBytes} bytes`);
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}

/** Answers with a body of some type. */
export function send(
  response: ServerResponse,
  status: number,
  contentType: string,
  body: string | Uint8Array,
): void {
  response.writeHead(status, { 'content-type': contentType });
  response.end(body);
}

/** Answers with JSON. */
export const sendJson = (response: ServerResponse, status: number, body: unknown): void =>
  send(response, status, 'application/json; charset=utf-8', JSON.stringify(body));
