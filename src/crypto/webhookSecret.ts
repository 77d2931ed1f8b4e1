import { randomBytes } from 'node:crypto';

const PREFIX = 'whsec_';
/** Standard Webhooks 1.0 requires 24 to 64 bytes. */
const BYTES = 32;

/** Creates a secret for signing webhooks: `whsec_` and 32 random bytes in base64. */
export const createWebhookSecret = (): string => PREFIX + randomBytes(BYTES).toString('base64');

/** Returns the key bytes of a secret. Throws RangeError for a malformed secret. */
export function decodeWebhookSecret(secret: string): Buffer {
  const key = secret.startsWith(PREFIX)
    ? Buffer.from(secret.slice(PREFIX.length), 'base64')
    : Buffer.alloc(0);
  if (key.length < 24) throw new RangeError('not a webhook secret');
  return key;
}
