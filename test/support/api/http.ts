import { request as httpRequest } from 'node:http';
import type { Fault, RefusalCode } from '../../../src/errors.ts';
import type { Inspect } from '../openapi/conformance.ts';

/** An answer of the API: `data` or `error`, whichever came, beside the text itself. */
export interface Answer<T = unknown> {
  status: number;
  headers: Headers;
  text: string;
  /** What `data` holds; undefined in an error. Numbers as JavaScript reads them. */
  data: T;
  /** Undefined in a success. */
  error: {
    code: RefusalCode;
    message: string;
    details?: { fields: Fault[]; cfe_id?: string; enterprise_rut?: string };
  };
}

/** What to send beside method and path. */
export interface Sending {
  /** Sent as JSON; a string or bytes as they stand. */
  body?: unknown;
  headers?: Record<string, string>;
}

export interface HttpClient {
  /** Sends to a path below /v1, with the credentials of the client. */
  send<T = unknown>(method: string, path: string, sending?: Sending): Promise<Answer<T>>;
  get<T = unknown>(path: string, headers?: Record<string, string>): Promise<Answer<T>>;
  post<T = unknown>(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer<T>>;
  put<T = unknown>(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer<T>>;
  /** The same client with other or further headers. */
  with(headers: Record<string, string>): HttpClient;
}

/**
 * A client of the API at `baseUrl` (with /v1) that sends `headers` along with every request; `inspect` sees every
 * answer first.
 */
export function createHttpClient(
  baseUrl: string,
  headers: Record<string, string> = {},
  inspect?: Inspect,
): HttpClient {
  const send = async <T>(method: string, path: string, sending: Sending = {}): Promise<Answer<T>> => {
    const { body } = sending;
    const isRaw = body === undefined || typeof body === 'string' || body instanceof Uint8Array;
    const response = await fetch(baseUrl + path, {
      method,
      headers: {
        // A connection that is kept may be closed by the server just when a request begins.
        connection: 'close',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
        ...sending.headers,
      },
      ...(body === undefined
        ? {}
        : { body: isRaw ? (body as string | Uint8Array<ArrayBuffer>) : JSON.stringify(body) }),
    });
    const text = await response.text();
    inspect?.({ method, path, status: response.status, headers: response.headers, text });
    const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
    const { data, error } = (isJson && text !== '' ? JSON.parse(text) : {}) as Answer<T>;
    return { status: response.status, headers: response.headers, text, data, error };
  };
  return {
    send,
    get: (path, more = {}) => send('GET', path, { headers: more }),
    post: (path, body, more = {}) => send('POST', path, { body, headers: more }),
    put: (path, body, more = {}) => send('PUT', path, { body, headers: more }),
    with: (more) => createHttpClient(baseUrl, { ...headers, ...more }, inspect),
  };
}

/** The codes of an error's faults by path: `{'/rut': ['rut.check_digit']}`. */
export function faultCodes(answer: Answer): Record<string, string[]> {
  const codes: Record<string, string[]> = {};
  for (const { path, code } of answer.error.details?.fields ?? []) (codes[path] ??= []).push(code);
  return codes;
}

/** Sends what fetch would not: odd headers, a body in chunks without a length. Answers status, headers and text. */
export function sendRaw(
  url: string,
  options: { method: string; headers?: Record<string, string>; chunks?: (string | Uint8Array)[] },
): Promise<{ status: number; headers: Record<string, string | string[] | undefined>; text: string }> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      url,
      { method: options.method, headers: options.headers ?? {} },
      (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.once('error', reject);
        response.once('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: Buffer.concat(parts).toString(),
          }),
        );
      },
    );
    request.once('error', reject);
    for (const chunk of options.chunks ?? []) request.write(chunk);
    request.end();
  });
}
