import type { IncomingMessage, ServerResponse } from 'node:http';

/** A request body above the limit. */
export class TooLarge extends Error {
  override readonly name = 'TooLarge';
}

/** The whole body of a request. Throws TooLarge; the connection must then be closed. */
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

/** Answers with a body. */
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
