import type { Context } from 'koa';
import type { FileAnswer } from './route.ts';

/** Sends `value` as JSON; numbers made by exactNumber keep their digits. */
export function answerJson(ctx: Context, status: number, value: unknown): void {
  answerText(ctx, status, JSON.stringify(value));
}

/** Sends text that is already JSON. */
export function answerText(ctx: Context, status: number, json: string): void {
  ctx.status = status;
  ctx.type = 'application/json';
  ctx.body = json;
}

/** Sends a file as a download, or 304 when its ETag matches. Clients may cache it but must revalidate. */
export function answerFile(ctx: Context, mediaType: string, { bytes, name, sha256 }: FileAnswer): void {
  ctx.status = 200;
  ctx.set('Cache-Control', 'private, no-cache');
  const etag = `"${sha256}"`;
  ctx.set('ETag', etag);
  // Not Koa's `fresh`: a request's no-cache is for caches in between, and fetch sends it along with
  // If-None-Match.
  const known = ctx
    .get('If-None-Match')
    .split(',')
    .map((tag) => tag.trim().replace(/^W\//, ''));
  if (known.includes(etag) || known.includes('*')) {
    ctx.status = 304;
    return;
  }
  ctx.set('Content-Disposition', `attachment; filename="${name}"`);
  ctx.type = mediaType;
  ctx.body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
