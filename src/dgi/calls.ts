/** One call to the authority: signed, permitted by the breakers, sent, measured, and its lack of an answer told apart. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Element } from '@xmldom/xmldom';
import type { Endpoint } from '../domain/breaker.ts';
import type { Environment } from '../domain/cfeTypes.ts';
import { answerIn, mostBytesOf, NoAnswer, type NoReading, readingOf, signedDocumentIn } from './answers.ts';
import type { AskVerdictAnswer, FindCfeAnswer, FindSobreAnswer, SendAnswer } from './cfeAnswers.ts';
import type {
  FindReportAnswer,
  ListIssuersAnswer,
  ListReportsAnswer,
  LookUpAnswer,
  SendReportAnswer,
} from './otherAnswers.ts';
import type { Answer, CommonAnswer } from './outcomes.ts';
import { AnswerTooLarge, post, type Timeouts, Unanswered } from './post.ts';
import type { SignatureHash } from './signatures.ts';
import { callOf, OPERATIONS, type Operation } from './soap.ts';
import { type DgiCredentials, signEnvelope } from './wsSecurity.ts';
import type { Caratula, Reason } from './xml/ack.ts';

/** Where the authority is, in one environment. */
interface DgiEndpoints {
  readonly receptionUrl: string;
  readonly consultationUrl: string;
  /** eRUT; without one nothing can be looked up there. */
  readonly registryUrl?: string | undefined;
}

export interface DgiClientOptions {
  readonly endpoints: Readonly<Record<Environment, DgiEndpoints>>;
  readonly timeouts: Timeouts;
  /** Hash of the signatures of requests. */
  readonly soapHash: SignatureHash;
  /**
   * SHA-256 (lower-case hex) of the certificates whose signatures count as the authority's in an environment. Asked once
   * a minute, and again before a signer that is not among them is refused.
   */
  readonly trustedSigners: (environment: Environment) => Promise<ReadonlySet<string>>;
  /** Certification authorities of its TLS, PEM; the usual ones by default. */
  readonly ca?: string | undefined;
  /** The moment now; the system's clock by default. */
  readonly clock?: () => Date;
  /** Says which calls may be made; without it, all may. */
  readonly breakers?: Breakers | undefined;
  /** Told of every call once it is over; for the metrics. */
  readonly onCall?: ((call: AuthorityCall) => void) | undefined;
}

/** What a call may come to. */
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

/** One call to the authority, and what came of it. */
export interface AuthorityCall {
  readonly environment: Environment;
  readonly service: (typeof OPERATIONS)[Operation]['service'];
  readonly operation: Operation;
  readonly seconds: number;
  /** `document`, or what came instead, as the table of outcomes names it. */
  readonly answer: 'document' | CommonAnswer;
  /** What it comes to: the kind of the result. */
  readonly result: ResultKind;
}

/** A call with what was said, which is for the record of a CFE alone: never for logs or metrics. */
export interface HeardCall extends AuthorityCall {
  readonly trace: Trace;
}

/** What is noted of a call while it is made. */
export interface Trace {
  /** When it began. */
  readonly at: Date;
  /** What the authority answered, as the table of outcomes names it or in its own code; null where it was read no further. */
  code: string | null;
  /** In its own words. */
  reasons: readonly Reason[];
  /** A status or code in place of an answer. */
  detail: string | null;
  /** The parameters that were sent, without envelope, signature or certificate; null for documents, which are stored. */
  request: string | null;
  response: Buffer | null;
}

const listeners = new AsyncLocalStorage<(call: HeardCall) => void>();

/** Runs `work` and tells `listener` of every call to the authority that is made within it, once it is over. */
export const hearingCalls = <T>(listener: (call: HeardCall) => void, work: () => Promise<T>): Promise<T> =>
  listeners.run(listener, work);

/** Who asks, and where. */
export interface Caller {
  readonly credentials: DgiCredentials;
  readonly environment: Environment;
}

type Where = Pick<Caller, 'environment'>;

/** What the operations of the client are made of. */
export interface Calls {
  readonly now: () => Date;
  /** The signed envelope of a request. */
  sign(operation: Operation, caller: Caller, parameters: string): string;
  /** Sends a request that is signed already: the element that answers it. Throws for everything else. */
  send(
    operation: Operation,
    where: Where,
    envelope: string,
    options?: { readonly isProbe?: boolean | undefined; readonly trace?: Trace },
  ): Promise<Element>;
  /** Signs a request, once it may go, and sends it. */
  ask(operation: Operation, caller: Caller, parameters: string, trace?: Trace): Promise<Element>;
  /** Runs a call; `instead` says what an answer that is none comes to. Rejects for mistakes of ours only. */
  run<T extends { kind: ResultKind }>(
    operation: Operation,
    where: Where,
    work: (trace: Trace) => Promise<T>,
    instead: (reading: NoReading) => T,
  ): Promise<T>;
  /** The signed document in an answer; throws NoAnswer unless it counts. */
  readSigned<T extends Caratula>(
    answer: Element,
    read: (root: Element) => T | undefined,
    where: Where,
  ): Promise<T>;
}

/** The calls of a client. */
export function createCalls(options: DgiClientOptions): Calls {
  const now = () => options.clock?.() ?? new Date();
  const signersOf = (environment: Environment) =>
    keptFor(SIGNERS_LAST_MILLISECONDS, () => options.trustedSigners(environment));
  const signersIn = { production: signersOf('production'), sandbox: signersOf('sandbox') };
  const sign: Calls['sign'] = (operation, { credentials }, parameters) =>
    signEnvelope(callOf(operation, parameters), { credentials, hash: options.soapHash });
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
      const answer = await post({ url, headers, body, timeouts, ca, mostBytes: mostBytesOf(operation) });
      if (trace) trace.response = answer.body;
      return answerIn(answer, operation);
    });
  };
  return {
    now,
    sign,

    send: (operation, where, envelope, how = {}) => exchange(operation, where, () => envelope, how),

    ask: (operation, caller, parameters, trace) =>
      exchange(
        operation,
        caller,
        () => {
          if (trace) trace.request = callOf(operation, parameters);
          return sign(operation, caller, parameters);
        },
        { trace },
      ),

    run: (operation, where, work, instead) =>
      runCall({ operation, where, work, instead }, now(), options.onCall),

    async readSigned(answer, read, { environment }) {
      const kept = await signersIn[environment]();
      try {
        return signedDocumentIn(answer, read, { signers: kept, now: now() });
      } catch (error) {
        const isStranger = error instanceof NoAnswer && error.answer === 'untrusted signer';
        const fresh = isStranger ? await signersIn[environment]({ anew: true }) : kept;
        if (fresh === kept) throw error;
        return signedDocumentIn(answer, read, { signers: fresh, now: now() });
      }
    },
  };
}

/** Runs a call that begins at `at`, and tells whoever hears of calls what came of it. */
async function runCall<T extends { kind: ResultKind }>(
  {
    operation,
    where: { environment },
    work,
    instead,
  }: {
    operation: Operation;
    where: Where;
    work: (trace: Trace) => Promise<T>;
    instead: (reading: NoReading) => T;
  },
  at: Date,
  onCall: DgiClientOptions['onCall'],
): Promise<T> {
  const { service } = OPERATIONS[operation];
  const startedAt = performance.now();
  const trace: Trace = { at, code: null, reasons: [], detail: null, request: null, response: null };
  let answer: AuthorityCall['answer'] = 'document';
  const result = await work(trace).catch((error: unknown) => {
    const reading = readingOf(error);
    answer = reading.answer;
    trace.detail = reading.detail ?? null;
    if (error instanceof NoAnswer && error.said) trace.reasons = [error.said];
    return instead(reading);
  });
  const seconds = (performance.now() - startedAt) / 1_000;
  const call = { environment, service, operation, seconds, answer, result: labelOf(result.kind) };
  onCall?.(call);
  listeners.getStore()?.({ ...call, trace });
  return result;
}

/** A certificate that an operator takes away counts no longer after so long. */
const SIGNERS_LAST_MILLISECONDS = 60_000;

/** What `load` gives, kept for so long or until it is wanted anew. */
function keptFor<T>(milliseconds: number, load: () => Promise<T>): (how?: { anew: boolean }) => Promise<T> {
  let kept: { value: T; at: number } | null = null;
  return async ({ anew } = { anew: false }) => {
    if (anew || kept === null || performance.now() - kept.at >= milliseconds) {
      kept = { value: await load(), at: performance.now() };
    }
    return kept.value;
  };
}

/** A send whose fate is unknown is measured as one that goes on by itself, as alerts on `repeat` expect. */
const labelOf = (kind: ResultKind): ResultKind => (kind === 'fateUnknown' ? 'repeat' : kind);

function urlOf(endpoints: DgiEndpoints, service: AuthorityCall['service']): string {
  const { receptionUrl: reception, consultationUrl: consultation, registryUrl: registry } = endpoints;
  const url = { reception, consultation, registry }[service];
  if (url === undefined) throw new Error(`no address of the ${service} service is configured`);
  return url;
}

// The breakers of the endpoints, which other services of the authority, and the central bank, have as well.

/** A call that is about to be made. */
export interface PlannedCall {
  readonly endpoint: Endpoint;
  /** Whether it is the probe of an endpoint whose breaker is open; others probe only while no CFE is the prober. */
  readonly isProbe: boolean;
}

/** Leave to make one call; whoever holds it reports how the call ended. */
export interface CallPermit {
  ended(how: 'answered' | 'failed'): Promise<void>;
}

/** The breakers of the authority's endpoints: a permit for each call, or null while the endpoint is away. */
export interface Breakers {
  permit(call: PlannedCall): Promise<CallPermit | null>;
}

/** What comes back in place of an answer, whoever asks and whatever was asked. */
const NO_ANSWERS: readonly Answer[] = ['http', 'fault', 'unreadable'];

/** Whether an error tells that the endpoint gave no proper answer; the content of an answer never does. */
function isFailure(error: unknown): boolean {
  if (error instanceof NoAnswer) return NO_ANSWERS.includes(error.answer);
  return error instanceof Unanswered || error instanceof AnswerTooLarge;
}

/** Makes a call if the breakers permit it, and reports how it ended. Throws NoAnswer (`held back`), and what `run` throws. */
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
