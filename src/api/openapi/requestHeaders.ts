/** The headers that callers may send, except those for authentication. */
import { IDEMPOTENCY_KEY, takesIdempotencyKey } from '../idempotency.ts';
import type { Route } from '../route.ts';

/** A parameter object of OpenAPI. */
export interface HeaderParameter {
  readonly name: string;
  readonly in: 'header';
  readonly required: false;
  readonly description: string;
  readonly schema: Readonly<Record<string, unknown>>;
}

const REQUEST_ID: HeaderParameter = {
  name: 'X-Request-Id',
  in: 'header',
  required: false,
  description:
    'Your own id for the request, returned and logged: 8 to 128 letters, digits, `.`, `_` or `-`. Anything else is replaced by an id of ours.',
  schema: { type: 'string', examples: ['order-4711-attempt-1'] },
};

const ACCEPT_LANGUAGE: HeaderParameter = {
  name: 'Accept-Language',
  in: 'header',
  required: false,
  description:
    'The language of the messages of errors and warnings: `es` for Spanish, else English (RFC 9110 §12.5.4). Codes and paths stay.',
  schema: { type: 'string', examples: ['es-UY'] },
};

const SANDBOX: HeaderParameter = {
  name: 'X-Sandbox-Mode',
  in: 'header',
  required: false,
  description:
    'The environment of the caller, which must match the key: `true` with a sandbox key; `false` or omitted with a production key. To read sandbox receipts, use a production key and the query parameter `environment`.',
  schema: {
    type: 'string',
    enum: ['true', 'false'],
    'x-enum-descriptions': [
      'The sandbox: nothing has fiscal validity.',
      'Production, as without the header.',
    ],
  },
};

const NO_SANDBOX: HeaderParameter = {
  ...SANDBOX,
  description: 'Production only: `true` is rejected (`sandbox.unsupported`).',
  schema: { type: 'string', enum: ['false'] },
};

const IDEMPOTENCY: HeaderParameter = {
  name: IDEMPOTENCY_KEY,
  in: 'header',
  required: false,
  description:
    'Your own string, a new one for each operation. The same request again gets the first answer ' +
    'again (`Idempotent-Replayed: true`), and nothing is done twice; the order of fields, blanks, and the notation of numbers and strings make no difference. A different request with the key is refused; the error names the CFE issued with the key and the first difference. A refused request has no effect and leaves the key free for the corrected one.',
  schema: {
    type: 'string',
    minLength: 1,
    maxLength: 255,
    pattern: '^[\\x21-\\x7E]([\\x20-\\x7E]*[\\x21-\\x7E])?$',
    examples: ['7a1f1c52-8a1d-4a6e-9a53-3f1f0f6f1f01'],
  },
};

const PREFER: HeaderParameter = {
  name: 'Prefer',
  in: 'header',
  required: false,
  description:
    '`wait=N`: answer when the CFE has its verdict or after N seconds (at most 30), whichever comes first (RFC 7240).',
  schema: { type: 'string', examples: ['wait=10'] },
};

const IF_NONE_MATCH: HeaderParameter = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  description:
    'The `ETag` of the file that you have, or several separated by commas, or `*`: if the file matches one of them, the answer is 304 without the file (RFC 9110 §13.1.2).',
  schema: { type: 'string', examples: ['"2c26b46b68ffc68ff99b453c1d304134"'] },
};

/** Returns the headers that `route` reads. */
export function headerParameters(route: Route): HeaderParameter[] {
  return [
    route.sandbox ? SANDBOX : NO_SANDBOX,
    ...(takesIdempotencyKey(route) ? [IDEMPOTENCY] : []),
    ...(route.waitFor ? [PREFER] : []),
    ...(route.file ? [IF_NONE_MATCH] : []),
    ACCEPT_LANGUAGE,
    REQUEST_ID,
  ];
}
