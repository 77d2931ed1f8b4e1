import type { Context } from 'koa';
import { exactNumber } from '../domain/values/exactNumber.ts';
import { messageInSpanish } from '../words/errors.ts';
import type { FileAnswer } from './route.ts';

/** Languages of messages; the first is the default without Accept-Language. */
const LANGUAGES = ['en', 'es'] as const;
export type MessageLanguage = (typeof LANGUAGES)[number];

/** Returns the language of messages that the caller asks for. */
export const messageLanguage = (ctx: Pick<Context, 'acceptsLanguages'>): MessageLanguage =>
  LANGUAGES.find((one) => one === ctx.acceptsLanguages(...LANGUAGES)) ?? LANGUAGES[0];

/** Sends `value` as JSON; numbers made by exactNumber keep their digits. */
export function answerJson(ctx: Context, status: number, value: unknown): void {
  answerText(ctx, status, JSON.stringify(value));
}

/** Sends `data`, with the messages of its warnings in the caller's language. */
export function answerData(ctx: Context, status: number, data: unknown): void {
  ctx.vary('Accept-Language');
  const isSpanish = messageLanguage(ctx) === 'es';
  answerText(ctx, status, JSON.stringify({ data }, isSpanish ? warningsInSpanish : undefined));
}

/** Sends the JSON text of a stored `data` as `answerData` does; numbers keep their digits. */
export function answerStored(ctx: Context, status: number, data: string): void {
  ctx.vary('Accept-Language');
  if (messageLanguage(ctx) === 'es' && data.includes('"warnings":[{'))
    answerData(ctx, status, parseExact(data));
  else answerText(ctx, status, `{"data":${data}}`);
}

/** Parses JSON with exact numbers: JSON.parse passes each value's text to its reviver, which TypeScript does not know yet. */
const parseExact = (json: string): unknown =>
  (
    JSON.parse as (
      text: string,
      revive: (key: string, value: unknown, at: { source: string }) => unknown,
    ) => unknown
  )(json, (_key, value, { source }) => (typeof value === 'number' ? exactNumber(source) : value));

/** Translates the messages of warnings, as a replacer for JSON.stringify; a message without a Spanish row stays English. */
const warningsInSpanish = (key: string, value: unknown): unknown =>
  key === 'warnings' && Array.isArray(value)
    ? (value as { message: string }[]).map((one) => ({
        ...one,
        message: messageInSpanish(one.message) ?? one.message,
      }))
    : value;

/** Sends text that is already JSON. */
function answerText(ctx: Context, status: number, json: string): void {
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
