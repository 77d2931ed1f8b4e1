/** The headers of answers, each described once in `components.headers`. */

const text = (description: string, more: object = {}) => ({
  description,
  schema: { type: 'string', ...more },
});

const integer = (description: string, example: number) => ({
  description,
  schema: { type: 'integer', minimum: 0, examples: [example] },
});

/**
 * `components.headers`; a `required` header is on every answer that lists it. A header with several meanings has several
 * names here.
 */
export const ANSWER_HEADERS = {
  'X-Request-Id': {
    ...text('Id of the request; quote it when you report a problem.', {
      examples: ['019aa5d4-7c3e-7000-8000-000000000001'],
    }),
    required: true,
  },
  'RateLimit-Policy': text('The limit: how many requests (q) in how many seconds (w).', {
    examples: ['"default";q=1000;w=3600'],
  }),
  RateLimit: text('Requests left (r), and seconds until the count resets (t).', {
    examples: ['"default";r=998;t=1834'],
  }),
  'Retry-After': {
    ...integer('Seconds to wait before the next try.', 5),
    required: true,
  },
  'Retry-After-If-Any': integer(
    'Seconds to wait before the next try. Absent when the time is unknown or waiting does not help.',
    5,
  ),
  'WWW-Authenticate': {
    ...text('How to authenticate (RFC 9110 §11.6.1).', { examples: ['Bearer realm="cfe"'] }),
    required: true,
  },
  'Idempotent-Replayed': text('`true` when this is the first answer to the same Idempotency-Key, repeated.', {
    enum: ['true'],
  }),
  Link: text('The next page, `rel="next"`, when this one is full; the last page may be empty.', {
    examples: ['</v1/enterprises/219000090011/customers?skip=1000&limit=1000>; rel="next"'],
  }),
  ETag: {
    ...text('Of the file; send it as `If-None-Match` to get 304 while the file is unchanged.', {
      examples: ['"2c26b46b68ffc68ff99b453c1d304134"'],
    }),
    required: true,
  },
  'Content-Language': {
    ...text('The language of the messages.', {
      enum: ['en', 'es'],
      'x-enum-descriptions': ['English.', 'Spanish.'],
    }),
    required: true,
  },
  'Preference-Applied': text('The wait that was granted.', { examples: ['wait=10'] }),
} as const;

type AnswerHeader = keyof typeof ANSWER_HEADERS;

/** The names of headers that differ from their names in the table. */
const SENT_AS: Partial<Record<AnswerHeader, string>> = { 'Retry-After-If-Any': 'Retry-After' };

const references = (names: readonly AnswerHeader[]) =>
  Object.fromEntries(names.map((name) => [SENT_AS[name] ?? name, { $ref: `#/components/headers/${name}` }]));

const RATE_LIMIT_HEADERS: readonly AnswerHeader[] = ['RateLimit-Policy', 'RateLimit'];

/**
 * Returns the headers of an answer with `status`. The flags add those of repeatable, waiting, paged and file
 * answers.
 */
export function answerHeaders(
  status: number,
  { replayed = false, waits = false, paged = false, file = false } = {},
): Record<string, { $ref: string }> {
  return references([
    'X-Request-Id',
    ...(status >= 400 ? (['Content-Language'] as const) : []),
    // A caller who is not authenticated has no rate limit.
    ...(status === 401 ? (['WWW-Authenticate'] as const) : RATE_LIMIT_HEADERS),
    ...(status === 429 || status === 503 ? (['Retry-After'] as const) : []),
    ...(status === 409 ? (['Retry-After-If-Any'] as const) : []),
    ...(replayed ? (['Idempotent-Replayed'] as const) : []),
    ...(waits ? (['Preference-Applied'] as const) : []),
    ...(paged ? (['Link'] as const) : []),
    ...(file ? (['ETag'] as const) : []),
  ]);
}
