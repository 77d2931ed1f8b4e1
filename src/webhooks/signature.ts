import { createHmac } from 'node:crypto';
import { decodeWebhookSecret } from '../crypto/webhookSecret.ts';

/** The headers that identify message and sender to a receiver (Standard Webhooks 1.0). */
export interface SignatureHeaders {
  'webhook-id': string;
  /** Seconds since 1970, of this attempt. */
  'webhook-timestamp': string;
  /** `v1,…` for each secret, separated by spaces. */
  'webhook-signature': string;
}

/**
 * Signs one attempt: HMAC-SHA256 over id, timestamp and the exact body, once per secret, so that a receiver with any of
 * the secrets can verify the signature.
 */
export function signatureHeaders(message: {
  id: string;
  at: Date;
  body: Uint8Array;
  secrets: readonly string[];
}): SignatureHeaders {
  const timestamp = String(Math.floor(message.at.getTime() / 1_000));
  const signatures = message.secrets.map((secret) => {
    const hmac = createHmac('sha256', decodeWebhookSecret(secret)).update(`${message.id}.${timestamp}.`);
    return `v1,${hmac.update(message.body).digest('base64')}`;
  });
  return {
    'webhook-id': message.id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  };
}
