/** One call to the authority: signed, permitted by the breakers, sent, measured, and its failures classified. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Element } from '@xmldom/xmldom';
import type { Endpoint } from '../domain/authority/breaker.ts';
import type { Environment } from '../domain/receipts/cfeTypes.ts';
import {
  type FailureReading,
  maxAnswerBytes,
  NoAnswer,
  parseAnswer,
  readFailure,
  readSignedDocument,
} from './answers.ts';
import type { AskVerdictAnswer, FindCfeAnswer, FindSobreAnswer, SendAnswer } from './cfeAnswers.ts';
import type {
  FindReportAnswer,
  ListIssuersAnswer,
  ListReportsAnswer,
  LookUpAnswer,
  SendReportAnswer,
} from './otherAnswers.ts';
import type { AuthorityAnswer, CommonAnswer } from './outcomes.ts';
import { AnswerTooLarge, post, type Timeouts, Unanswered } from './post.ts';
import type { SignatureHash } from './signatures.ts';
import { OPERATIONS, type Operation, writeCall } from './soap.ts';
import { type DgiCredentials, signEnvelope } from './wsSecurity.ts';
import type { AuthorityReason, Caratula } from './xml/ack.ts';

/** The authority's addresses in one environment. */
interface DgiEndpoints {
  readonly receptionUrl: string;
  readonly consultationUrl: string;
  /** eRUT; look-ups fail without it. */
  readonly registryUrl?: string | undefined;
}

export interface DgiClientOptions {
  readonly endpoints: Readonly<Record<Environment, DgiEndpoints>>;
  readonly timeouts: Timeouts;
  /** Hash of the signatures of requests. */
  readonly soapHash: SignatureHash;
  /**
   * SHA-256 (lower-case hex) of the authority's certificates in an environment. Loaded once a minute, and again before an
   * unknown signer is refused.
   */
  readonly trustedSigners: (environment: Environment) => Promise<ReadonlySet<string>>;
  /** Certification authorities for the authority's TLS, PEM; Node's own by default. */
  readonly ca?: string | undefined;
  /** The system's clock by default. */
  readonly clock?: () => Date;
  /** Permits or refuses each call; without it, all are permitted. */
  readonly breakers?: Breakers | undefined;
  /** Receives every finished call, for the metrics. */
  readonly onCall?: ((call: AuthorityCall) => void) | undefined;
}

type ResultKind = (
  | SendReportAnswer
  | FindReportAnswer
  | ListReportsAnswer
  | SendAnswer
  | FindSobreAnswer
  | FindCfeAnswer
  | AskVerdictAnswer
  | LookUpAnswer
  | ListIssuersAnswer
)['kind'];

/** One call to the authority and its result. */
export interface AuthorityCall {
  readonly environment: Environment;
  readonly service: (typeof OPERATIONS)[Operation]['service'];
  readonly operation: Operation;
  readonly seconds: number;
  /** `document`, or the failure as the table of outcomes names it. */
  readonly answer: 'document' | CommonAnswer;
  readonly result: ResultKind;
}

/** A call with its contents, for the record of a CFE only: never for logs or metrics. */
export interface RecordedCall extends AuthorityCall {
  readonly trace: Trace;
}

/** The details of a call, filled in while it runs. */
export interface Trace {
  /** When the call started. */
  readonly at: Date;
  /** The answer's key in the table of outcomes or the authority's own code; null for an unread answer. */
  code: string | null;
  /** The authority's reasons, verbatim. */
  reasons: readonly AuthorityReason[];
  /** The status or code of a failure. */
  detail: string | null;
  /** The parameters without envelope, signature or certificate; null for documents, which are stored anyway. */
  request: string | null;
  response: Buffer | null;
}

const listeners = new AsyncLocalStorage<(call: RecordedCall) => void>();

/** Runs `work` and passes every finished call to the authority inside it to `listener`. */
export const recordCalls = <T>(listener: (call: RecordedCall) => void, work: () => Promise<T>): Promise<T> =>
  listeners.run(listener, work);

/** The enterprise that makes a call, and the environment. */
export interface DgiCaller {
  readonly credentials: DgiCredentials;
  readonly environment: Environment;
}

type Where = Pick<DgiCaller, 'environment'>;

/** The building blocks of the client's operations. */
export interface Calls {
  readonly now: () => Date;
  /** Returns the signed envelope of a request. */
  sign(operation: Operation, caller: DgiCaller, parameters: string): string;
  /** Sends a signed request and returns the element that answers it. Throws NoAnswer, Unanswered or AnswerTooLarge. */
  send(
    operation: Operation,
    where: Where,
    envelope: string,
    options?: { readonly isProbe?: boolean | undefined; readonly trace?: Trace },
  ): Promise<Element>;
  /** Signs a request, once the breakers permit it, and sends it. */
  ask(operation: Operation, caller: DgiCaller, parameters: string, trace?: Trace): Promise<Element>;
  /** Runs a call and measures it; `onFailure` turns a missing answer into a result. Rejects for bugs only. */
  run<T extends { kind: ResultKind }>(
    operation: Operation,
    where: Where,
    work: (trace: Trace) => Promise<T>,
    onFailure: (reading: FailureReading) => T,
  ): Promise<T>;
  /** Returns the signed document in an answer. Throws NoAnswer unless a trusted signer signed it. */
  readSigned<T extends Caratula>(
    answer: Element,
    read: (root: Element) => T | undefined,
    where: Where,
  ): Promise<T>;
}

/** Creates the calls of one client. */
export function createCalls(options: DgiClientOptions): Calls {
  const now = () => options.clock?.() ?? new Date();
  const signersOf = (environment: Environment) =>
    cacheFor(SIGNERS_CACHE_MILLISECONDS, () => options.trustedSigners(environment));
  const signersIn = { production: signersOf('production'), sandbox: signersOf('sandbox') };
  const sign: Calls['sign'] = (operation, { credentials }, parameters) =>
    signEnvelope(writeCall(operation, parameters), { credentials, hash: options.soapHash });
  const exchange = (
    operation: Operation,
    { environment }: Where,
    bodyOf: () => string,
    { isProbe = false, trace }: { isProbe?: boolean | undefined; trace?: Trace | undefined },
  ): Promise<Element> => {
    const { service, soapAction } = OPERATIONS[operation];
    const url = urlOf(options.endpoints[environment], service);
    const headers = {
      'content-type': 'text/xml;charset=UTF-8',
      soapaction: `"${soapAction}"`,
      accept: 'text/xml',
    };
    const { timeouts, ca, breakers } = options;
    return withPermit(breakers, { endpoint: `${environment}/${service}`, isProbe }, async () => {
      const body = bodyOf();
      const answer = await post({ url, headers, body, timeouts, ca, mostBytes: maxAnswerBytes(operation) });
      if (trace) trace.response = answer.body;
      return parseAnswer(answer, operation);
    });
  };
  return {
    now,
    sign,

    send: (operation, where, envelope, callOptions = {}) =>
      exchange(operation, where, () => envelope, callOptions),

    ask: (operation, caller, parameters, trace) =>
      exchange(
        operation,
        caller,
        () => {
          if (trace) trace.request = writeCall(operation, parameters);
          return sign(operation, caller, parameters);
        },
        { trace },
      ),

    run: (operation, where, work, onFailure) =>
      runCall({ operation, where, work, onFailure }, now(), options.onCall),

    async readSigned(answer, read, { environment }) {
      const cached = await signersIn[environment]();
      try {
        return readSignedDocument(answer, read, { signers: cached, now: now() });
      } catch (error) {
        const isUntrusted = error instanceof NoAnswer && error.answer === 'untrusted signer';
        const fresh = isUntrusted ? await signersIn[environment]({ reload: true }) : cached;
        if (fresh === cached) throw error;
        return readSignedDocument(answer, read, { signers: fresh, now: now() });
      }
    },
  };
}

/** Runs a call and reports it to the metrics and to `recordCalls`. `at`: when it starts. */
async function runCall<T extends { kind: ResultKind }>(
  {
    operation,
    where: { environment },
    work,
    onFailure,
  }: {
    operation: Operation;
    where: Where;
    work: (trace: Trace) => Promise<T>;
    onFailure: (reading: FailureReading) => T;
  },
  at: Date,
  onCall: DgiClientOptions['onCall'],
): Promise<T> {
  const { service } = OPERATIONS[operation];
  const startedAt = performance.now();
  const trace: Trace = { at, code: null, reasons: [], detail: null, request: null, response: null };
  let answer: AuthorityCall['answer'] = 'document';
  const result = await work(trace).catch((error: unknown) => {
    const reading = readFailure(error);
    answer = reading.answer;
    trace.detail = reading.detail ?? null;
    if (error instanceof NoAnswer && error.reason) trace.reasons = [error.reason];
    return onFailure(reading);
  });
  const seconds = (performance.now() - startedAt) / 1_000;
  const call = { environment, service, operation, seconds, answer, result: labelOf(result.kind) };
  onCall?.(call);
  listeners.getStore()?.({ ...call, trace });
  return result;
}

/** A certificate that an operator removes is trusted for at most this long. */
const SIGNERS_CACHE_MILLISECONDS = 60_000;

/** Returns a function that caches the result of `load`; `reload` loads it again early. */
function cacheFor<T>(
  milliseconds: number,
  load: () => Promise<T>,
): (options?: { reload: boolean }) => Promise<T> {
  let cached: { value: T; at: number } | null = null;
  return async ({ reload } = { reload: false }) => {
    if (reload || cached === null || performance.now() - cached.at >= milliseconds) {
      cached = { value: await load(), at: performance.now() };
    }
    return cached.value;
  };
}

/** Counts an unknown fate as `repeat`: alerts on `repeat` assume that the service resolves it automatically. */
const labelOf = (kind: ResultKind): ResultKind => (kind === 'fateUnknown' ? 'repeat' : kind);

function urlOf(endpoints: DgiEndpoints, service: AuthorityCall['service']): string {
  const { receptionUrl: reception, consultationUrl: consultation, registryUrl: registry } = endpoints;
  const url = { reception, consultation, registry }[service];
  if (url === undefined) throw new Error(`no address of the ${service} service is configured`);
  return url;
}

// Breakers: of the authority's services, the credentials check and the central bank.

/** A call before it is made. */
export interface PlannedCall {
  readonly endpoint: Endpoint;
  /** Whether the call probes an endpoint with an open breaker; other calls probe only while no CFE is the prober. */
  readonly isProbe: boolean;
}

/** Permission to make one call; its holder reports how the call ended. */
export interface CallPermit {
  ended(result: 'answered' | 'failed'): Promise<void>;
}

/** The breakers of the endpoints: a permit for each call, or null while the endpoint is unavailable. */
export interface Breakers {
  permit(call: PlannedCall): Promise<CallPermit | null>;
}

/** Failures of the endpoint itself, independent of caller and operation. */
const NO_ANSWERS: readonly AuthorityAnswer[] = ['http', 'fault', 'unreadable'];

/** True when the endpoint itself failed; the content of an answer never counts as a failure. */
function isFailure(error: unknown): boolean {
  if (error instanceof NoAnswer) return NO_ANSWERS.includes(error.answer);
  return error instanceof Unanswered || error instanceof AnswerTooLarge;
}

/** Makes a call if the breakers permit it and reports its end. Throws NoAnswer (`held back`) and the errors of `run`. */
export async function withPermit<T>(
  breakers: Breakers | undefined,
  call: PlannedCall,
  run: () => Promise<T>,
): Promise<T> {
  if (!breakers) return run();
  const permit = await breakers.permit(call);
  if (!permit) throw new NoAnswer('held back');
  try {
    const answer = await run();
    await permit.ended('answered');
    return answer;
  } catch (error) {
    await permit.ended(isFailure(error) ? 'failed' : 'answered');
    throw error;
  }
}
