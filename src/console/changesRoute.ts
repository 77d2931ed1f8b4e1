import { PassThrough } from 'node:stream';
import { TOPICS } from '../db/changeCounts.ts';
import { SESSION } from '../domain/people.ts';
import { type Ctx, type Served, visitOf } from './serve.ts';

/** Shorter than any proxy's patience; it also finds out who is gone. */
const BEAT_MILLISECONDS = 25_000;
/** A browser opens a stream that ended again after so long. */
const AGAIN_MILLISECONDS = 5_000;

/**
 * Server-sent events (WHATWG HTML §9.2) that say nothing but *changed*. For who is signed in and has a place; 204 tells a browser
 * not to ask again. A stream ends with its session's idle time: the page that opens it anew shows whether there is still one.
 */
export async function serveChanges(ctx: Ctx, served: Served): Promise<void> {
  const { deps, guards } = served;
  const { signedIn } = await visitOf(ctx, served);
  const asked = new URLSearchParams(ctx.search).get('of')?.split(',') ?? [];
  const topics = TOPICS.filter((topic) => asked.includes(topic));
  const closed = Promise.withResolvers<void>();
  if (
    !signedIn ||
    topics.length === 0 ||
    deps.changes.closed.aborted ||
    !(await guards.openStream(signedIn, closed.promise))
  ) {
    ctx.status = 204;
    return;
  }
  const stream = new PassThrough();
  const write = (text: string): void => void (stream.writableLength < 1_024 && stream.write(text));
  const unlisten = deps.changes.listen(topics, () => write('event: changed\ndata:\n\n'));
  const beat = setInterval(() => write(':\n\n'), BEAT_MILLISECONDS);
  const longest = setTimeout(() => stream.end(), SESSION.idleMilliseconds);
  const end = (): void => {
    unlisten();
    clearInterval(beat);
    clearTimeout(longest);
    deps.changes.closed.removeEventListener('abort', end);
    stream.end();
    closed.resolve();
  };
  deps.changes.closed.addEventListener('abort', end);
  stream.once('close', end);
  ctx.req.once('close', end);
  ctx.set({ 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' });
  ctx.status = 200;
  ctx.body = stream;
  write(`retry: ${AGAIN_MILLISECONDS}\n\n`);
}
