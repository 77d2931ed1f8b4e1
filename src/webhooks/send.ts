import { once } from 'node:events';
import { Agent } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { createSecureContext, rootCertificates } from 'node:tls';
import got, { type Request } from 'got';
import { DEADLINES } from '../domain/authority/deadlines.ts';
import { webhookUrlFaults } from '../domain/webhooks/webhook.ts';
import { isLoopback, isPublicAddress } from './addresses.ts';
import { askNameServers, askSystem, type Resolver } from './names.ts';

/** Why an attempt got no answer: stable words without addresses, shown to the receiver's owner. */
export type SendError =
  | 'refused_url'
  | 'blocked_address'
  | 'dns'
  | 'tls'
  | 'connection_refused'
  | 'connection'
  | 'timeout'
  | 'bad_answer';

/** The result of one attempt. */
export interface SendOutcome {
  /** The receiver's status; null without an answer. */
  httpStatus: number | null;
  error: SendError | null;
  /** The first 4 KiB of the answer's body, as text. */
  answer: string | null;
  milliseconds: number;
}

interface Message {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: Uint8Array;
}

export type Sender = (message: Message) => Promise<SendOutcome>;

const ANSWER_BYTES = 4_096;

/**
 * Creates a sender that reaches only the internet: it checks every address when connecting, so that a name cannot change
 * its address after the check. Follows no redirects, keeps no connections. `localCa` (PEM; development): an authority to
 * trust; receivers on this machine are then allowed.
 */
export function createSender(
  options: { localCa?: string | undefined; resolve?: Resolver; patienceMilliseconds?: number } = {},
): Sender {
  const { localCa, patienceMilliseconds = DEADLINES.receiverAnswer } = options;
  const localReceivers = localCa !== undefined;
  const { resolve = localReceivers ? askSystem : askNameServers() } = options;
  const mayReach = (address: string): boolean =>
    isPublicAddress(address) || (localReceivers && isLoopback(address));
  const agent = {
    https: new Agent({
      keepAlive: false,
      // Created once: reading all roots takes some 20 ms.
      ...(localReceivers && {
        secureContext: createSecureContext({ ca: [...rootCertificates, localCa] }),
      }),
    }),
  };
  const dnsLookup = guardedLookup(resolve, mayReach);

  async function attempt(message: Message): Promise<Omit<SendOutcome, 'milliseconds'>> {
    if (webhookUrlFaults(message.url, { localReceivers }).length > 0) return failed('refused_url');
    const target = new URL(message.url);
    const literal = target.hostname.replace(/^\[|\]$/g, '');
    // IP addresses need no look-up, so the look-up does not check them.
    if (isIP(literal) !== 0 && !mayReach(literal)) return failed('blocked_address');
    // Our own timer: got's `timeout.request` would include the body of the answer.
    const patience = new AbortController();
    const timer = setTimeout(() => patience.abort(), patienceMilliseconds);
    const stream = got.stream.post(target, {
      // By default got adds its user agent and unpacks answers.
      headers: { 'user-agent': undefined, ...message.headers },
      decompress: false,
      body: message.body,
      agent,
      dnsLookup,
      https: { rejectUnauthorized: true },
      followRedirect: false,
      retry: { limit: 0 },
      throwHttpErrors: false,
      signal: patience.signal,
    });
    // Errors may also occur while the body is read, and must not crash the process.
    stream.on('error', () => undefined);
    try {
      const [{ statusCode }] = (await once(stream, 'response')) as [{ statusCode: number }];
      clearTimeout(timer);
      return { httpStatus: statusCode, error: null, answer: await readStart(stream) };
    } catch (error) {
      return failed(patience.signal.aborted ? 'timeout' : toSendError(error));
    } finally {
      clearTimeout(timer);
      stream.destroy();
    }
  }

  return async (message) => {
    const started = performance.now();
    const outcome = await attempt(message);
    return { ...outcome, milliseconds: Math.round(performance.now() - started) };
  };
}

class Failure extends Error {
  override readonly name = 'Failure';
  readonly error: SendError;

  constructor(error: SendError) {
    super(error);
    this.error = error;
  }
}

const failed = (error: SendError) => ({ httpStatus: null, error, answer: null });

/**
 * Returns a lookup for sockets that succeeds only if every address of the name may be reached: an answer that mixes public
 * and private addresses is an attack.
 */
export function guardedLookup(resolve: Resolver, mayReach: (address: string) => boolean): LookupFunction {
  const addressesOf = async (host: string) => {
    const addresses = await resolve(host).catch(() => []);
    const [first] = addresses;
    if (!first) return new Failure('dns');
    if (!addresses.every(({ address }) => mayReach(address))) return new Failure('blocked_address');
    return { addresses, first };
  };
  return (host, { all }, done) => {
    const answer = async (): Promise<void> => {
      const result = await addressesOf(host);
      if (result instanceof Failure) done(result, '');
      else if (all) done(null, result.addresses);
      else done(null, result.first.address, result.first.family);
    };
    void answer();
  };
}

/** Returns the first bytes of the body as text; late or further bytes are left unread. */
async function readStart(stream: Request): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  // After the status, the body is for information only.
  const timer = setTimeout(() => stream.destroy(), DEADLINES.receiverBody);
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= ANSWER_BYTES) break;
    }
  } catch {
    // The connection broke or the time is over: return the bytes so far.
  } finally {
    clearTimeout(timer);
  }
  // PostgreSQL's text holds no NUL.
  return Buffer.concat(chunks).subarray(0, ANSWER_BYTES).toString('utf8').replaceAll('\0', '\u{FFFD}');
}

const TLS =
  /^(ERR_TLS_|ERR_SSL_|EPROTO$|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|ERR_OSSL|HOSTNAME_MISMATCH|INVALID_)/;

function toSendError(error: unknown): SendError {
  // got wraps errors of the lookup, the socket and the HTTP parser.
  const { cause } = error as { cause?: unknown };
  if (cause instanceof Failure) return cause.error;
  const { code = '' } = error as { code?: string };
  if (code === 'ECONNREFUSED') return 'connection_refused';
  if (TLS.test(code)) return 'tls';
  return code.startsWith('HPE_') ? 'bad_answer' : 'connection';
}
