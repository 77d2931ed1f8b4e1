import type { Router } from '@koa/router';
import type { Middleware } from 'koa';
import { Refusal } from '../../errors.ts';
import type { RequestState } from '../requestState.ts';

/** Answers what no route took: OPTIONS with the methods of the path, another method 405, another path 404. */
export function refuseUnmatched(router: Router<RequestState>): Middleware<RequestState> {
  return (ctx) => {
    const methods = new Set(router.match(ctx.path, ctx.method).path.flatMap((layer) => layer.methods));
    if (methods.size === 0) throw new Refusal('NOT_FOUND', 'This path does not exist.');
    ctx.set('Allow', [...methods, 'OPTIONS'].sort().join(', '));
    if (ctx.method !== 'OPTIONS') {
      throw new Refusal(
        'METHOD_NOT_ALLOWED',
        `This path does not support ${ctx.method}; see the header Allow.`,
      );
    }
    ctx.status = 204;
  };
}
