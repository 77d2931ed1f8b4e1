/** Notices a proxy that nobody configured: behind one, all callers look like one address and share one limit. */
import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';
import type { Logger } from '../logger.ts';
import { callerAddress } from './callerAddress.ts';

/** Requests after which it is plain. */
const REQUESTS = 50;
const INNER = ['private', 'uniqueLocal', 'linkLocal', 'carrierGradeNat', 'loopback'];

/**
 * A function to be handed every request of a server that trusts so many proxies. With 0, it warns once in the log after 50 requests
 * with X-Forwarded-For from private addresses or this machine, or if the first 50 others all come from one private address. What
 * this machine itself asks for, such as a health check, counts for neither.
 */
export function createProxyNotice({
  trustedProxies,
  logger,
}: {
  trustedProxies: number;
  logger: Logger;
}): (request: Pick<IncomingMessage, 'socket' | 'headers'>) => void {
  let isOver = trustedProxies > 0;
  let forwarded = 0;
  /** Requests without the field, and the only address that they come from; null once there are two. */
  let plain = 0;
  let only: string | null | undefined;
  return (request) => {
    const isForwarded = request.headers['x-forwarded-for'] !== undefined;
    if (isOver || (!isForwarded && only === null)) return;
    const address = callerAddress(request, 0);
    const range = ipaddr.isValid(address) ? ipaddr.parse(address).range() : 'none';
    if (isForwarded) forwarded += INNER.includes(range) ? 1 : 0;
    else if (range !== 'loopback') {
      only ??= address;
      if (address !== only || !INNER.includes(range)) only = null;
      else plain += 1;
    }
    if (forwarded < REQUESTS && (only === null || plain < REQUESTS)) return;
    isOver = true;
    logger.warn(
      { address },
      `${REQUESTS} requests came as from a proxy at this address: if it is one, set CFE_TRUSTED_PROXIES, else all callers share the limits of one`,
    );
  };
}
