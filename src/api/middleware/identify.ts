import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Middleware } from 'koa';
import type { RequestState } from '../requestState.ts';

const FORM = /^[A-Za-z0-9._-]{8,128}$/;

/** The request id: the caller's own where it matches, else a new one. */
function requestIdOf(header: string | string[] | undefined): string {
  return typeof header === 'string' && FORM.test(header) ? header : randomUUID();
}

/** How IPv6 writes an IPv4 address; the same caller either way. */
const MAPPED = /^::ffff:/i;

/** The address of the caller; the only place where it is decided. */
const addressOf = ({ socket }: IncomingMessage): string =>
  (socket.remoteAddress ?? 'unknown').replace(MAPPED, '');

/** Gives every request its id, answers it as X-Request-Id, and tells from where it came. */
export const identify: Middleware<RequestState> = (ctx, next) => {
  ctx.state.requestId = requestIdOf(ctx.req.headers['x-request-id']);
  ctx.state.route = null;
  ctx.state.accountId = null;
  ctx.state.keyId = null;
  ctx.state.address = addressOf(ctx.req);
  ctx.set('X-Request-Id', ctx.state.requestId);
  return next();
};
