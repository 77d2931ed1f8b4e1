import { PassThrough } from 'node:stream';
import type { Context } from 'koa';
import { TOPICS } from '../db/changeCounts.ts';
import { SESSION } from '../domain/people.ts';
import type { ConsoleDeps } from './page.ts';
import { type ConsoleState, visitOf } from './serve.ts';

/** Most streams that one process holds open at a time. */
const MOST_STREAMS = 500;
/** Shorter than any proxy's patience; it also finds out who is gone. */
const BEAT_MILLISECONDS = 25_000;
/** A browser opens a stream that ended again after so long. */
const AGAIN_MILLISECONDS = 5_000;

/**
 * Server-sent events (WHATWG HTML §9.2) that say nothing but *changed*. For who is signed in; 204 tells a browser not to ask
 * again. A stream ends with its session's idle time: the page that opens it anew shows whether there is still one.
 */
export async function serveChanges(ctx: Context & { state: ConsoleState }, deps: ConsoleDeps): Promise<void> {
  const visit = await visitOf(ctx, deps);
  const asked = new URLSearchParams(ctx.search).get('of')?.split(',') ?? [];
  const topics = TOPICS.filter((topic) => asked.includes(topic));
  if (
    !visit.signedIn ||
    topics.length === 0 ||
    deps.changes.count() >= MOST_STREAMS ||
    deps.changes.closed.aborted
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
  };
  deps.changes.closed.addEventListener('abort', end);
  stream.once('close', end);
  ctx.req.once('close', end);
  ctx.set({ 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' });
  ctx.status = 200;
  ctx.body = stream;
  write(`retry: ${AGAIN_MILLISECONDS}\n\n`);
}
