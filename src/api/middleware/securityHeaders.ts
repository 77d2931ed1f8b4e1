import type { Middleware } from 'koa';

/** An answer is data for one caller: nothing may run it, frame it, guess its type or keep it. */
const HEADERS = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy':
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'Strict-Transport-Security': 'max-age=31536000; includeSubDomains',
  'X-Content-Type-Options': 'nosniff',
};

/** Sets the security headers of every answer. */
export const securityHeaders: Middleware = (ctx, next) => {
  ctx.set(HEADERS);
  return next();
};
