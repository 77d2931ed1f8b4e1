import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import got, { TimeoutError } from 'got';

/** Time-outs towards the authority, in seconds. */
export interface Timeouts {
  /** Each of: finding the address, connecting, the TLS handshake. */
  readonly connectSeconds: number;
  /** The whole answer, from the beginning of the request. */
  readonly answerSeconds: number;
}

/** No answer came. The message holds no address and nothing of what was sent. */
export class Unanswered extends Error {
  override readonly name = 'Unanswered';
  /** False where it is certain that nothing was sent. */
  readonly sent: boolean;

  constructor(what: string, sent: boolean) {
    super(what);
    this.sent = sent;
  }
}

/** The answer, unpacked, is larger than any real one. */
export class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge';
}

/**
 * An unused connection is closed after so long, before gateways do: one that is used while they close it leaves a send's
 * outcome unknown, and the authority is asked. A gateway that says when it does (Keep-Alive) is taken at its word.
 */
const UNUSED_MILLISECONDS = 3_000;
const KEPT = { keepAlive: true, timeout: UNUSED_MILLISECONDS };
const AGENTS = { http: new HttpAgent(KEPT), https: new HttpsAgent(KEPT) };

/** What fails before the first byte of a request is sent. */
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
 * Posts once: no redirect, no repeat, no cookie. The answer is counted as it comes, unpacked, so that a small one that
 * unpacks to a huge one ends at `mostBytes`. Throws Unanswered or AnswerTooLarge.
 */
export async function post(request: {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
  timeouts: Timeouts;
  mostBytes: number;
  /** Certification authorities to trust in place of the usual ones, PEM. */
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
    // Runs until the last byte: an answer that drips must not hold us for ever.
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
    throw unanswered(error);
  } finally {
    stream.destroy();
  }
  return { status, body: Buffer.concat(chunks) };
}

function unanswered(error: unknown): Unanswered {
  if (error instanceof TimeoutError && CONNECTING.has(error.event)) {
    return new Unanswered(`time-out: ${error.event}`, false);
  }
  const { name, code } =
    error instanceof Error ? (error as Error & { code?: unknown }) : { name: '', code: undefined };
  if (name === 'AbortError' || name === 'TimeoutError') return new Unanswered('time-out: answer', true);
  const known = typeof code === 'string' ? code : 'connection lost';
  return new Unanswered(known, !BEFORE_SENDING.has(known));
}
