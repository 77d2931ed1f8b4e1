import type { Context } from 'koa';

/** Answers `value` as JSON; numbers made by exactNumber stand as they are. */
export function answerJson(ctx: Context, status: number, value: unknown): void {
  answerText(ctx, status, JSON.stringify(value));
}

/** Answers `json`, which is JSON already. */
export function answerText(ctx: Context, status: number, json: string): void {
  ctx.status = status;
  ctx.type = 'application/json';
  ctx.body = json;
}
