import { isDatabaseOutage } from '../db/orm.ts';
import { type Fault, Refusal, type RefusalCode } from '../errors.ts';
import { errorInSpanish } from '../words/errors.ts';
import type { MessageLanguage } from './answer.ts';

/** The HTTP status of each refusal (docs/contract.md#answers). */
export const STATUS_OF: Readonly<Record<RefusalCode, number>> = {
  INVALID_INPUT: 400,
  ALREADY_EXISTS: 400,
  INVALID_API_KEY: 401,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  REQUEST_TIMEOUT: 408,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  HEADERS_TOO_LARGE: 431,
  NOT_SENT_YET: 409,
  IDEMPOTENCY_IN_PROGRESS: 409,
  IDEMPOTENCY_KEY_REUSED: 422,
  RATE_LIMITED: 429,
  INTERNAL_ERROR: 500,
  UNAVAILABLE: 503,
};

/** WWW-Authenticate for clients without a valid key or token (RFC 9110 §11.6.1). */
const CHALLENGES: Partial<Record<RefusalCode, string>> = {
  INVALID_API_KEY: 'ApiKey realm="cfe"',
  UNAUTHORIZED: 'Bearer realm="cfe"',
};
const RETRY_AFTER_SECONDS = 5;

/** The error object (docs/contract.md#answers). */
export interface ErrorBody {
  readonly error: {
    readonly code: RefusalCode;
    readonly message: string;
    readonly details?: {
      readonly fields: readonly (Fault & { readonly docs: string })[];
      /** The CFE that was issued with a reused Idempotency-Key. */
      readonly enterprise_rut?: string;
      readonly cfe_id?: string;
    };
  };
}

interface ErrorAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ErrorBody;
}

/** The request and language of an answer. */
interface Reader {
  readonly requestId: string;
  readonly language: MessageLanguage;
  /** The API's public URL, without /v1. */
  readonly publicUrl: string;
}

/** Returns the answer to any thrown error; only a Refusal keeps its own message. */
export function errorAnswer(error: unknown, { requestId, language, publicUrl }: Reader): ErrorAnswer {
  const refusal = refusalFor(error, requestId);
  const { code, about, retryAfterSeconds } = refusal;
  const { message, faults } = language === 'es' ? errorInSpanish(refusal) : refusal;
  const challenge = CHALLENGES[code];
  const addDocs = (fault: Fault) => ({ ...fault, docs: `${publicUrl}/v1/docs/refused#${fault.code}` });
  return {
    status: STATUS_OF[code],
    headers: {
      'Content-Language': language,
      ...(challenge ? { 'WWW-Authenticate': challenge } : {}),
      ...(retryAfterSeconds === undefined ? {} : { 'Retry-After': String(Math.ceil(retryAfterSeconds)) }),
    },
    body: {
      error: {
        code,
        message,
        ...(faults.length > 0 ? { details: { ...about, fields: faults.map(addDocs) } } : {}),
      },
    },
  };
}

function refusalFor(error: unknown, requestId: string): Refusal {
  if (error instanceof Refusal) return error;
  if (isDatabaseOutage(error)) {
    const message = 'The service cannot reach its database right now; try again in a few seconds.';
    return new Refusal('UNAVAILABLE', message, { retryAfterSeconds: RETRY_AFTER_SECONDS, cause: error });
  }
  return new Refusal(
    'INTERNAL_ERROR',
    `Something went wrong on our side. Quote request ${requestId} when you report it.`,
    {
      cause: error,
    },
  );
}
