import type { Middleware } from 'koa';
import type { Logger } from '../../logger.ts';
import { answerJson } from '../answer.ts';
import { errorAnswer } from '../errorAnswer.ts';
import type { RequestState } from '../requestState.ts';

/** The only try/catch of the requests: whatever is thrown below leaves as the error envelope. */
export function answerErrors(logger: Logger): Middleware<RequestState> {
  return async (ctx, next) => {
    try {
      await next();
    } catch (err) {
      const { requestId, route } = ctx.state;
      const { status, headers, body } = errorAnswer(err, requestId);
      if (status >= 500) logger.error({ err, requestId, route, code: body.error.code }, 'request failed');
      ctx.set(headers);
      answerJson(ctx, status, body);
    }
  };
}
