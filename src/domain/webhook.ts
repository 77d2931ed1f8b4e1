import type { Fault } from '../errors.ts';

/** The events that a webhook may select (interface.md part 6, decisions.md §9). */
export const WEBHOOK_EVENTS = [
  'enterprise.updated',
  'payment.created',
  'efactura.login',
  'cfe.updated',
] as const;
export type SelectableEvent = (typeof WEBHOOK_EVENTS)[number];

/** Where a delivery stands: under way, taken by the receiver, or given up after the last retry. */
export const DELIVERY_STATUSES = ['PENDING', 'DELIVERED', 'FAILED'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** Pauses in milliseconds, each from the failure before to the next attempt (interface.md 6.4). */
export const RETRY_DELAYS: readonly number[] = [60_000, 300_000, 1_800_000];

/** How long the secret before still signs beside the new one, milliseconds. */
export const SECRET_OVERLAP_MILLISECONDS = 86_400_000;

/** Webhooks that one account may have at a time. */
export const MOST_WEBHOOKS = 20;

const LONGEST_URL = 2_048;
/** Names that mean this machine or its network, whoever resolves them. */
const INNER_NAME = /(^|\.)(localhost|local|localdomain|internal|intranet|lan|corp|home|home\.arpa)$/;
const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]']);

const FAULTS = {
  malformed: 'an absolute https address is expected.',
  too_long: `an address of at most ${LONGEST_URL} characters is expected.`,
  https: 'only https addresses receive anything.',
  credentials: 'an address without user name and password is expected; the signature says who sends.',
  fragment: 'an address without # is expected.',
  host: 'the name of a server on the internet is expected, not an IP address or a name of an inner network.',
  port: 'port 443, or one from 1024 on, is expected.',
} as const;

/**
 * What is wrong with the address of a receiver; none when it may be stored. `localReceivers`: whether receivers on this
 * machine are allowed (development). What its name resolves to is checked at every attempt, at the socket.
 */
export function webhookUrlFaults(text: string, { localReceivers }: { localReceivers: boolean }): Fault[] {
  if (text.length > LONGEST_URL) return [fault('too_long')];
  // The parser drops these in silence: what is stored would not be what is read.
  if (/[\s\\\p{Cc}]/u.test(text) || !URL.canParse(text)) return [fault('malformed')];
  const url = new URL(text);
  if (url.protocol !== 'https:') return [fault('https')];
  const host = url.hostname.replace(/\.$/, '');
  const isLocal = localReceivers && LOOPBACK.has(host);
  const port = url.port === '' ? 443 : Number(url.port);
  return [
    ...(url.username || url.password || /^https:\/*[^/?#]*@/i.test(text) ? [fault('credentials')] : []),
    ...(text.includes('#') ? [fault('fragment')] : []),
    ...(isLocal || isOuterName(host) ? [] : [fault('host')]),
    ...(port === 443 || port >= 1_024 ? [] : [fault('port')]),
  ];
}

/** Whether a host is a name with a dot that is no IP address (the parser writes every spelling of one as digits). */
function isOuterName(host: string): boolean {
  if (host.startsWith('[') || /^[\d.]+$/.test(host)) return false;
  return host.includes('.') && !INNER_NAME.test(host);
}

const fault = (code: keyof typeof FAULTS): Fault => ({
  path: '/url',
  code: `webhook.url.${code}`,
  message: `url: ${FAULTS[code]}`,
});
