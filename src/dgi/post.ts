import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import got, { TimeoutError } from 'got';

/** Time-outs of a request, in seconds. */
export interface Timeouts {
  /** For each of the DNS look-up, the connection and the TLS handshake. */
  readonly connectSeconds: number;
  /** From the start of the request to the last byte of the answer. */
  readonly answerSeconds: number;
}

/** No answer arrived, or no readable one. The message has neither the URL nor anything of the request. */
export class Unanswered extends Error {
  override readonly name = 'Unanswered';
  /** False when it is certain that nothing was sent. */
  readonly sent: boolean;

  constructor(reason: string, sent: boolean) {
    super(reason);
    this.sent = sent;
  }
}

/** The decompressed answer exceeds the limit. */
export class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge';
}

/**
 * Closes idle connections before a gateway does: a request on a closing connection has an unknown outcome.
 * A Keep-Alive header of the gateway overrides this.
 */
const UNUSED_MILLISECONDS = 3_000;
const KEEP_ALIVE = { keepAlive: true, timeout: UNUSED_MILLISECONDS };
const AGENTS = { http: new HttpAgent(KEEP_ALIVE), https: new HttpsAgent(KEEP_ALIVE) };

/** Errors before the first byte of a request is sent. */
const BEFORE_SENDING = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
  'EADDRNOTAVAIL',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'ERR_TLS_CERT_ALTNAME_INVALID',
]);
const CONNECTING = new Set(['lookup', 'connect', 'secureConnect']);

/**
 * Posts once, without redirects, retries or cookies. Limits the decompressed answer to `mostBytes` while it is read.
 * Throws Unanswered or AnswerTooLarge.
 */
export async function post(request: {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
  timeouts: Timeouts;
  mostBytes: number;
  /** Certification authorities to trust instead of Node's own, PEM. */
  ca?: string | undefined;
}): Promise<{ status: number; body: Buffer }> {
  const connect = request.timeouts.connectSeconds * 1_000;
  const stream = got.stream.post(request.url, {
    headers: { 'user-agent': 'cfe-service', ...request.headers },
    body: request.body,
    agent: AGENTS,
    throwHttpErrors: false,
    followRedirect: false,
    retry: { limit: 0 },
    timeout: { lookup: connect, connect, secureConnect: connect },
    // Covers the time up to the last byte: a slow answer must not hold us forever.
    signal: AbortSignal.timeout(request.timeouts.answerSeconds * 1_000),
    ...(request.ca === undefined ? {} : { https: { certificateAuthority: request.ca } }),
  });
  let status = 0;
  stream.once('response', (response: { statusCode: number }) => {
    status = response.statusCode;
  });
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > request.mostBytes) throw new AnswerTooLarge('the answer is too large');
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof AnswerTooLarge) throw error;
    throw toUnanswered(error);
  } finally {
    stream.destroy();
  }
  return { status, body: Buffer.concat(chunks) };
}

function toUnanswered(error: unknown): Unanswered {
  if (error instanceof TimeoutError && CONNECTING.has(error.event)) {
    return new Unanswered(`time-out: ${error.event}`, false);
  }
  const { name, code } =
    error instanceof Error ? (error as Error & { code?: unknown }) : { name: '', code: undefined };
  if (name === 'AbortError' || name === 'TimeoutError') return new Unanswered('time-out: answer', true);
  const reason = typeof code === 'string' ? code : 'connection lost';
  return new Unanswered(reason, !BEFORE_SENDING.has(reason));
}
