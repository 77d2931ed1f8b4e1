import { randomUUID } from 'node:crypto';
import type { Middleware } from 'koa';
import { callerAddress } from '../../http/callerAddress.ts';
import { createProxyNotice } from '../../http/proxyNotice.ts';
import type { Logger } from '../../logger.ts';
import type { RequestState } from '../requestState.ts';

const FORM = /^[A-Za-z0-9._-]{8,128}$/;

/** The request id: the caller's own where it matches, else a new one. */
function requestIdOf(header: string | string[] | undefined): string {
  return typeof header === 'string' && FORM.test(header) ? header : randomUUID();
}

/**
 * Gives every request its id, answered as X-Request-Id, and the address that it comes from by way of `trustedProxies`.
 */
export function identify(trustedProxies: number, logger: Logger): Middleware<RequestState> {
  const notice = createProxyNotice({ trustedProxies, logger });
  return (ctx, next) => {
    notice(ctx.req);
    ctx.state.requestId = requestIdOf(ctx.req.headers['x-request-id']);
    ctx.state.address = callerAddress(ctx.req, trustedProxies);
    ctx.state.route = null;
    ctx.state.accountId = null;
    ctx.state.keyId = null;
    ctx.set('X-Request-Id', ctx.state.requestId);
    return next();
  };
}
