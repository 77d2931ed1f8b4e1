/** Sample errors that do not occur on a quiet stack, created by the service's own code. */
import { requestInProgress } from '../../commands/steps/runOnce.ts';
import { Refusal, type RefusalCode } from '../../errors.ts';
import { type ErrorBody, errorAnswer } from '../errorAnswer.ts';
import { notSentYet } from '../receipts/receiptFiles.ts';
import { applyRateLimit } from '../serveRoute.ts';

const NOW = new Date('2026-11-20T15:29:26.000Z');
const READER = {
  requestId: '019aa5d4-7c3e-7000-8000-000000000001',
  language: 'en',
  publicUrl: 'https://cfe.example.com',
} as const;

/** Returns the error of the 1,001st request of an hour. */
function errorOverLimit(): unknown {
  const usage = {
    limit: { most: 1_000, seconds: 3_600 },
    used: 1_001,
    resetsAt: new Date('2026-11-20T16:00:00.000Z'),
  };
  try {
    applyRateLimit({ set: () => undefined }, usage, NOW);
  } catch (error) {
    return error;
  }
  throw new Error('a request beyond the limit was let through');
}

const THROWN = {
  REQUEST_TIMEOUT: new Refusal('REQUEST_TIMEOUT', 'The request did not arrive in time.'),
  HEADERS_TOO_LARGE: new Refusal('HEADERS_TOO_LARGE', 'The headers of the request are too large.'),
  NOT_SENT_YET: notSentYet(),
  IDEMPOTENCY_IN_PROGRESS: requestInProgress(),
  RATE_LIMITED: errorOverLimit(),
  INTERNAL_ERROR: new Error('a bug'),
  UNAVAILABLE: Object.assign(new Error('the database is unavailable'), { code: 'ECONNREFUSED' }),
} as const satisfies Partial<Record<RefusalCode, unknown>>;

/** The error object of each code. */
export const ERROR_SAMPLES: Readonly<Partial<Record<RefusalCode, ErrorBody>>> = Object.fromEntries(
  Object.entries(THROWN).map(([code, error]) => [code, errorAnswer(error, READER).body]),
);
