import type { ErrorCode, Fault } from './types.ts';

/** The error of a rejected request. */
interface Refusal {
  readonly code: ErrorCode;
  readonly message: string;
  readonly status: number;
  readonly faults: readonly Fault[];
  readonly requestId: string | null;
  readonly retryAfterSeconds: number | undefined;
  readonly madeByKey: { readonly rut: string; readonly cfeId: string } | undefined;
}

/** The API rejected the request, and this call has done nothing. `code` is one of a closed set, so that a `switch` over it is complete. */
export class CfeRefused extends Error implements Refusal {
  override readonly name = 'CfeRefused';
  readonly code: ErrorCode;
  /** HTTP status. */
  readonly status: number;
  /** Of INVALID_INPUT: every validation error, with its path in the body (JSON Pointer) and its rule. Of IDEMPOTENCY_KEY_REUSED: the first difference. */
  readonly faults: readonly Fault[];
  /** For support. */
  readonly requestId: string | null;
  /** When to retry, if the API said so. NOT_SENT_YET without it is permanent. */
  readonly retryAfterSeconds: number | undefined;
  /** Of IDEMPOTENCY_KEY_REUSED: the CFE that the key has made. Read it: it may be the sale that you mean. */
  readonly madeByKey: { readonly rut: string; readonly cfeId: string } | undefined;
  /** Of a POST: the key of this request, generated or your own. */
  readonly idempotencyKey: string | undefined;

  constructor(refusal: Refusal, idempotencyKey: string | undefined) {
    super(refusal.message);
    this.code = refusal.code;
    this.status = refusal.status;
    this.faults = refusal.faults;
    this.requestId = refusal.requestId;
    this.retryAfterSeconds = refusal.retryAfterSeconds;
    this.madeByKey = refusal.madeByKey;
    this.idempotencyKey = idempotencyKey;
  }
}

/**
 * The request may have been carried out: there was no answer, or an error of the service, or the caller aborted. Call
 * again, a POST with the same `idempotencyKey`: the API returns the earlier result and does nothing twice.
 */
export class CfeUnanswered extends Error {
  override readonly name = 'CfeUnanswered';
  /** Of a POST: the key of this request, generated or your own. */
  readonly idempotencyKey: string | undefined;
  /** The last error of the API, if any. */
  readonly refusal: CfeRefused | undefined;
  /** When to retry, if the API said so. */
  readonly retryAfterSeconds: number | undefined;

  constructor(message: string, idempotencyKey: string | undefined, cause: unknown) {
    super(message, { cause });
    this.idempotencyKey = idempotencyKey;
    this.refusal = cause instanceof CfeRefused ? cause : undefined;
    this.retryAfterSeconds = this.refusal?.retryAfterSeconds;
  }
}
