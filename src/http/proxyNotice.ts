/** Detects a proxy that is not configured: behind it, all callers have one address and share one limit. */
import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';
import type { Logger } from '../logger.ts';
import { callerAddress } from './callerAddress.ts';

/** Requests before the warning. */
const REQUESTS = 50;
const INNER = ['private', 'uniqueLocal', 'linkLocal', 'carrierGradeNat', 'loopback'];

/**
 * Returns a function to call for every request. With 0 trusted proxies it warns once: after 50 requests from private
 * addresses or this machine that have X-Forwarded-For, or if the first 50 without it come from one private address.
 * Direct requests of this machine, such as health checks, do not count.
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
  /** Requests without the header, and their only address; null once they have two addresses. */
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
      `${REQUESTS} requests seem to come from a proxy at this address: if it is a proxy, set CFE_TRUSTED_PROXIES; otherwise all callers share one limit`,
    );
  };
}
