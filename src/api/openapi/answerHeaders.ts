/** The headers of answers, each described once in `components.headers`. */

const text = (description: string, more: object = {}) => ({
  description,
  schema: { type: 'string', ...more },
});

const integer = (description: string) => ({ description, schema: { type: 'integer', minimum: 0 } });

/** `components.headers`: those with `required` are on every answer that names them. */
export const ANSWER_HEADERS = {
  'X-Request-Id': { ...text('Id of the request; quote it when you report a problem.'), required: true },
  'RateLimit-Policy': text('The limit: how many requests (q) in how many seconds (w).', {
    examples: ['"default";q=1000;w=3600'],
  }),
  RateLimit: text('Requests left (r), and seconds until the count resets (t).', {
    examples: ['"default";r=998;t=1834'],
  }),
  'X-RateLimit-Limit': integer('Requests allowed per window.'),
  'X-RateLimit-Remaining': integer('Requests left in this window.'),
  'X-RateLimit-Reset': integer('When the next window begins, in seconds since 1970.'),
  'Retry-After': {
    ...integer('Seconds to wait before the next try.'),
    required: true,
  },
  'WWW-Authenticate': { ...text('How to authenticate (RFC 9110 §11.6.1).'), required: true },
  'Idempotent-Replayed': text('`true` when this is the first answer to the same Idempotency-Key, repeated.', {
    enum: ['true'],
  }),
  Link: text('The next page, `rel="next"`, when the list has more items.'),
  ETag: {
    ...text('Of the file; send it as `If-None-Match` to be answered 304 while it is the same.'),
    required: true,
  },
  'Preference-Applied': text('The wait that was granted.', { examples: ['wait=10'] }),
} as const;

/** A header of the table above. */
type AnswerHeader = keyof typeof ANSWER_HEADERS;

const references = (names: readonly AnswerHeader[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

const QUOTA: readonly AnswerHeader[] = [
  'RateLimit-Policy',
  'RateLimit',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
];

/** The headers of an answer with `status`; `replayed`: it may be a repeated one, `waits`: it may have waited, `paged`: more pages may follow, `file`: it is one. */
export function answerHeaders(
  status: number,
  { replayed = false, waits = false, paged = false, file = false } = {},
): Record<string, { $ref: string }> {
  return references([
    'X-Request-Id',
    // A caller who is not authenticated has no quota.
    ...(status === 401 ? (['WWW-Authenticate'] as const) : QUOTA),
    ...(status === 429 || status === 503 ? (['Retry-After'] as const) : []),
    ...(replayed ? (['Idempotent-Replayed'] as const) : []),
    ...(waits ? (['Preference-Applied'] as const) : []),
    ...(paged ? (['Link'] as const) : []),
    ...(file ? (['ETag'] as const) : []),
  ]);
}
