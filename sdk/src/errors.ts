import type { ErrorCode, Fault } from './types.ts';

/** The API refused; `code` is one of a closed set, so that a `switch` over it is complete. */
export class CfeRefused extends Error {
  override readonly name = 'CfeRefused';
  readonly code: ErrorCode;
  /** HTTP status. */
  readonly status: number;
  /** Of INVALID_INPUT: every fault, with its place in the body (JSON Pointer) and its rule. */
  readonly faults: readonly Fault[];
  /** To be quoted to support. */
  readonly requestId: string | null;

  constructor(
    { code, message, details }: { code: ErrorCode; message: string; details?: { fields?: readonly Fault[] } },
    { status, requestId }: { status: number; requestId: string | null },
  ) {
    super(message);
    this.code = code;
    this.status = status;
    this.faults = details?.fields ?? [];
    this.requestId = requestId;
  }
}

/**
 * There was no answer in time. What was asked may have happened: ask again with the same Idempotency-Key, which is in
 * `idempotencyKey` of a POST.
 */
export class CfeUnanswered extends Error {
  override readonly name = 'CfeUnanswered';
  readonly idempotencyKey: string | undefined;

  constructor(message: string, idempotencyKey: string | undefined, cause: unknown) {
    super(message, { cause });
    this.idempotencyKey = idempotencyKey;
  }
}
