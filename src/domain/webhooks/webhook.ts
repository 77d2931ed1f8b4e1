import type { Fault } from '../../errors.ts';

/** Status of a delivery: in progress, accepted by the receiver, or given up after the last retry. */
export const DELIVERY_STATUSES = ['PENDING', 'DELIVERED', 'FAILED'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** Pauses between attempts in milliseconds (docs/contract.md#webhooks). */
export const RETRY_DELAYS: readonly number[] = [60_000, 300_000, 1_800_000];

/** How long the previous secret still signs together with the new one, in milliseconds. */
export const SECRET_OVERLAP_MILLISECONDS = 86_400_000;

const LONGEST_URL = 2_048;
/** Names that always mean this machine or its network. */
const INNER_NAME = /(^|\.)(localhost|local|localdomain|internal|intranet|lan|corp|home|home\.arpa)$/;
const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]']);

const FAULTS = {
  malformed: 'must be an absolute https URL.',
  too_long: `must have at most ${LONGEST_URL} characters.`,
  https: 'must be an https URL.',
  credentials: 'must not contain a user name or password; the signature says who sends.',
  fragment: 'must not contain #.',
  host: 'must name a server on the internet, not an IP address or a host of an internal network.',
  port: 'must use port 443 or one from 1024 up.',
} as const;

/**
 * Returns the faults of a receiver's URL; empty if it may be stored. `localReceivers`: allows receivers on this machine
 * (development). The resolved address is checked at the socket on every attempt.
 */
export function webhookUrlFaults(text: string, { localReceivers }: { localReceivers: boolean }): Fault[] {
  if (text.length > LONGEST_URL) return [fault('too_long')];
  // The parser drops these silently, so the stored URL would differ from the parsed one.
  if (/[\s\\\p{Cc}]/u.test(text) || !URL.canParse(text)) return [fault('malformed')];
  const url = new URL(text);
  if (url.protocol !== 'https:') return [fault('https')];
  const host = url.hostname.replace(/\.$/, '');
  const isLocal = localReceivers && LOOPBACK.has(host);
  const port = url.port === '' ? 443 : Number(url.port);
  return [
    ...(url.username || url.password || /^https:\/*[^/?#]*@/i.test(text) ? [fault('credentials')] : []),
    ...(text.includes('#') ? [fault('fragment')] : []),
    ...(isLocal || isPublicName(host) ? [] : [fault('host')]),
    ...(port === 443 || port >= 1_024 ? [] : [fault('port')]),
  ];
}

/** True for a public name; the parser writes every form of an IP address as digits. */
function isPublicName(host: string): boolean {
  if (host.startsWith('[') || /^[\d.]+$/.test(host)) return false;
  return host.includes('.') && !INNER_NAME.test(host);
}

const fault = (code: keyof typeof FAULTS): Fault => ({
  path: '/url',
  code: `webhook.url.${code}`,
  message: `url: ${FAULTS[code]}`,
});
