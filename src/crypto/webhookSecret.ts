import { randomBytes } from 'node:crypto';

const PREFIX = 'whsec_';
/** Standard Webhooks 1.0 asks for 24 to 64. */
const BYTES = 32;

/** A new secret for signing webhooks: `whsec_` and 32 random bytes in base64. */
export const createWebhookSecret = (): string => PREFIX + randomBytes(BYTES).toString('base64');

/** The key bytes of a secret; throws RangeError on a string that is none. */
export function decodeWebhookSecret(secret: string): Buffer {
  const key = secret.startsWith(PREFIX)
    ? Buffer.from(secret.slice(PREFIX.length), 'base64')
    : Buffer.alloc(0);
  if (key.length < 24) throw new RangeError('not a webhook secret');
  return key;
}
