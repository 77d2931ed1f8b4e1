import { randomBytes } from 'node:crypto';
import type { RequestKey } from '../../../src/db/people/idempotency.ts';

/** The Idempotency-Key of a request whose body does not matter. */
export const aRequestKey = (key: string): RequestKey => ({
  key,
  hash: randomBytes(32),
  outline: () => ({ check: '', body: {} }),
});
