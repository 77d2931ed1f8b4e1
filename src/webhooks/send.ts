import { lookup } from 'node:dns/promises';
import type { IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { createSecureContext, rootCertificates } from 'node:tls';
import { webhookUrlFaults } from '../domain/webhook.ts';
import { isLoopback, isPublicAddress } from './addresses.ts';

/** Why an attempt got no answer: stable words, without addresses, for whoever runs the receiver. */
export type SendError =
  | 'refused_url'
  | 'blocked_address'
  | 'dns'
  | 'tls'
  | 'connection_refused'
  | 'connection'
  | 'timeout'
  | 'bad_answer';

/** What became of one attempt. */
export interface SendOutcome {
  /** The receiver's status; null where there was no answer. */
  httpStatus: number | null;
  error: SendError | null;
  /** The first 4 KiB of the answer's body, as text. */
  answer: string | null;
  milliseconds: number;
}

/** Resolves a name to all its addresses. */
export type Resolver = (host: string) => Promise<{ address: string; family: number }[]>;

export type Sender = (message: {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: Uint8Array;
}) => Promise<SendOutcome>;

const PATIENCE_MILLISECONDS = 15_000;
/** Once the status is known, the rest of the answer is only for reading along. */
const BODY_PATIENCE_MILLISECONDS = 2_000;
const ANSWER_BYTES = 4_096;

/**
 * A sender that reaches the internet and nothing else: every address is checked at the moment of connecting, so a name
 * that resolves to another address afterwards changes nothing. Redirects are not followed; connections are not kept.
 * With `localCa` (PEM; development) receivers on this machine are reached too and may show its certificates.
 */
export function createSender(
  options: { localCa?: string | undefined; resolve?: Resolver; patienceMilliseconds?: number } = {},
): Sender {
  const { localCa, resolve = resolveAll, patienceMilliseconds = PATIENCE_MILLISECONDS } = options;
  const localReceivers = localCa !== undefined;
  const mayReach = (address: string): boolean =>
    isPublicAddress(address) || (localReceivers && isLoopback(address));
  const trust = localReceivers
    ? { secureContext: createSecureContext({ ca: [...rootCertificates, localCa] }) }
    : {};
  const guarded = guardedLookup(resolve, mayReach);

  return async ({ url, headers, body }) => {
    const started = performance.now();
    const outcome = await attempt();
    return { ...outcome, milliseconds: Math.round(performance.now() - started) };

    async function attempt(): Promise<Omit<SendOutcome, 'milliseconds'>> {
      if (webhookUrlFaults(url, { localReceivers }).length > 0) return failed('refused_url');
      const target = new URL(url);
      const literal = target.hostname.replace(/^\[|\]$/g, '');
      // A number is connected to without being looked up.
      if (isIP(literal) !== 0 && !mayReach(literal)) return failed('blocked_address');
      try {
        const response = await post(target);
        return {
          httpStatus: response.statusCode ?? 0,
          error: null,
          answer: await readStart(response, BODY_PATIENCE_MILLISECONDS),
        };
      } catch (error) {
        return failed(wordFor(error));
      }
    }

    /** The answer's status and headers, or how it failed; the whole of it within the patience. */
    function post(target: URL): Promise<IncomingMessage> {
      return new Promise((resolveAnswer, reject) => {
        const request = httpsRequest(target, {
          method: 'POST',
          headers: { ...headers, 'content-length': body.length },
          agent: false,
          lookup: guarded,
          rejectUnauthorized: true,
          ...trust,
        });
        const timer = setTimeout(() => request.destroy(new Failure('timeout')), patienceMilliseconds);
        request.once('response', (response) => {
          clearTimeout(timer);
          resolveAnswer(response);
        });
        // Stays: a connection that breaks while the answer is read says so here too.
        request.on('error', (error) => {
          clearTimeout(timer);
          reject(error);
        });
        request.end(body);
      });
    }
  };
}

class Failure extends Error {
  override readonly name = 'Failure';
  readonly word: SendError;

  constructor(word: SendError) {
    super(word);
    this.word = word;
  }
}

const failed = (error: SendError) => ({ httpStatus: null, error, answer: null });

const resolveAll: Resolver = (host) => lookup(host, { all: true });

/** A lookup for sockets that answers only when every address of the name may be reached: mixed answers are a trap. */
function guardedLookup(resolve: Resolver, mayReach: (address: string) => boolean): LookupFunction {
  const addressesOf = async (host: string) => {
    const addresses = await resolve(host).catch(() => []);
    const [first] = addresses;
    if (!first) return new Failure('dns');
    if (!addresses.every(({ address }) => mayReach(address))) return new Failure('blocked_address');
    return { addresses, first };
  };
  return (host, { all }, done) => {
    const answer = async (): Promise<void> => {
      const found = await addressesOf(host);
      if (found instanceof Failure) done(found, '');
      else if (all) done(null, found.addresses);
      else done(null, found.first.address, found.first.family);
    };
    void answer();
  };
}

/** The first bytes of the body; what does not come in time, or after them, is left unread. */
function readStart(response: IncomingMessage, patienceMilliseconds: number): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const end = (): void => {
      clearTimeout(timer);
      response.destroy();
      // PostgreSQL's text holds no NUL.
      const text = Buffer.concat(chunks).subarray(0, ANSWER_BYTES).toString('utf8');
      resolve(text.replaceAll('\0', '\u{FFFD}'));
    };
    const timer = setTimeout(end, patienceMilliseconds);
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= ANSWER_BYTES) end();
    });
    response.once('end', end);
    response.once('error', end);
    response.once('close', end);
  });
}

const REFUSED = new Set(['ECONNREFUSED']);
const TLS =
  /^(ERR_TLS_|ERR_SSL_|EPROTO$|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|ERR_OSSL|HOSTNAME_MISMATCH|INVALID_)/;

function wordFor(error: unknown): SendError {
  if (error instanceof Failure) return error.word;
  const { code = '' } = error as { code?: string };
  if (REFUSED.has(code)) return 'connection_refused';
  if (TLS.test(code)) return 'tls';
  return code.startsWith('HPE_') ? 'bad_answer' : 'connection';
}
