/**
 * Refusals. A foreseen refusal is a `Refusal` with one of a closed set of codes; any other error is a bug and
 * leaves the service as INTERNAL_ERROR without its text.
 */

/** Every code of an error answer (docs/contract.md#answers). */
export const REFUSAL_CODES = [
  'INVALID_INPUT',
  'ALREADY_EXISTS',
  'INVALID_API_KEY',
  'UNAUTHORIZED',
  'FORBIDDEN',
  'NOT_FOUND',
  'METHOD_NOT_ALLOWED',
  'REQUEST_TIMEOUT',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'HEADERS_TOO_LARGE',
  'NOT_SENT_YET',
  'IDEMPOTENCY_IN_PROGRESS',
  'IDEMPOTENCY_KEY_REUSED',
  'RATE_LIMITED',
  'INTERNAL_ERROR',
  'UNAVAILABLE',
] as const;
export type RefusalCode = (typeof REFUSAL_CODES)[number];

/** A fault of the input: where (JSON Pointer into the body), which rule, and how to fix it. */
export interface Fault {
  path: string;
  code: string;
  message: string;
}

/** A foreseen refusal. `message` and `faults` are public; `cause` is for the log only. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: RefusalCode;
  readonly faults: readonly Fault[];
  readonly retryAfterSeconds: number | undefined;
  /** The subject of the refusal, by name; public. */
  readonly about: Readonly<Record<string, string>>;

  constructor(
    code: RefusalCode,
    message: string,
    more: {
      faults?: readonly Fault[];
      retryAfterSeconds?: number;
      about?: Readonly<Record<string, string>>;
      cause?: unknown;
    } = {},
  ) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.code = code;
    this.faults = more.faults ?? [];
    this.retryAfterSeconds = more.retryAfterSeconds;
    this.about = more.about ?? {};
  }
}

/** Returns INVALID_INPUT with all its faults; the message is that of the first, with their number if there are more. */
export function invalidInput(faults: readonly Fault[]): Refusal {
  const [first] = faults;
  const more = faults.length > 1 ? ` (${faults.length} faults; see details.fields.)` : '';
  const message = `${first?.message ?? 'The request has faults.'}${more}`;
  return new Refusal('INVALID_INPUT', message, { faults });
}
