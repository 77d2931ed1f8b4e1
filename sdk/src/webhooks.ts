import { readJson } from './json.ts';
import type { WebhookEvent } from './types.ts';

const TOLERANCE_SECONDS = 300;
const PREFIX = 'v1,';

/** A message that is not from the service, or is too old to be believed. */
export class NotOurs extends Error {
  override readonly name = 'NotOurs';
}

/**
 * The event in a webhook message. Takes the body byte for byte as it came, before anything parses it, and its headers.
 * Throws NotOurs unless a signature matches one of the secrets (`whsec_…`; two while one is being changed) and the
 * message is at most five minutes old. A message may come more than once: its `webhook-id` stays the same.
 */
export async function verifyWebhook(
  {
    body,
    headers,
  }: {
    body: Uint8Array | string;
    headers: Headers | Readonly<Record<string, string | string[] | undefined>>;
  },
  secrets: string | readonly string[],
  { now = new Date(), toleranceSeconds = TOLERANCE_SECONDS }: { now?: Date; toleranceSeconds?: number } = {},
): Promise<WebhookEvent & { id: string }> {
  const of = (name: string): string => {
    // Ignores case in header names, as servers and proxies change it.
    const given = headers instanceof Headers ? [...headers] : Object.entries(headers);
    const value = given.find(([one]) => one.toLowerCase() === name)?.[1];
    if (typeof value !== 'string') throw new NotOurs(`the header ${name} is missing`);
    return value;
  };
  const [id, timestamp, signatures] = [of('webhook-id'), of('webhook-timestamp'), of('webhook-signature')];
  const age = Math.abs(now.getTime() / 1_000 - Number(timestamp));
  if (!(age <= toleranceSeconds)) throw new NotOurs('the message is not of now');
  const text = typeof body === 'string' ? body : new TextDecoder('utf-8', { fatal: true }).decode(body);
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${text}`);
  const given = signatures.split(' ').filter((one) => one.startsWith(PREFIX));
  for (const secret of [secrets].flat()) {
    const key = await crypto.subtle.importKey('raw', bytesOf(secret.replace(/^whsec_/, '')), HMAC, false, [
      'verify',
    ]);
    for (const one of given) {
      // Web Crypto compares in constant time.
      if (await crypto.subtle.verify('HMAC', key, bytesOf(one.slice(PREFIX.length)), signed))
        return { ...(readJson(text) as WebhookEvent), id };
    }
  }
  throw new NotOurs('no signature matches');
}

const HMAC = { name: 'HMAC', hash: 'SHA-256' };

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    throw new NotOurs('a secret or signature is not base64');
  }
}
