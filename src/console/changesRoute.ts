import { PassThrough } from 'node:stream';
import { TOPICS } from '../db/operations/changeCounts.ts';
import { SESSION } from '../domain/people/people.ts';
import { type Ctx, readVisit, type ServeDeps } from './serve.ts';

/** Must be shorter than the idle timeout of proxies. */
const HEARTBEAT_MILLISECONDS = 25_000;
/** Delay after which a browser reopens a closed stream. */
const RECONNECT_MILLISECONDS = 5_000;

/**
 * Sends server-sent events (WHATWG HTML §9.2) named *changed*. Without a session or a free slot answers 204, which stops
 * reconnects. Closes after the session's idle time: on reconnect the page finds out whether its session has expired.
 */
export async function serveChanges(ctx: Ctx, serveDeps: ServeDeps): Promise<void> {
  const { deps, guards } = serveDeps;
  const { signedIn } = await readVisit(ctx, serveDeps);
  const requested = new URLSearchParams(ctx.search).get('of')?.split(',') ?? [];
  const topics = TOPICS.filter((topic) => requested.includes(topic));
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
  const heartbeat = setInterval(() => write(':\n\n'), HEARTBEAT_MILLISECONDS);
  const timeout = setTimeout(() => stream.end(), SESSION.idleMilliseconds);
  const end = (): void => {
    unlisten();
    clearInterval(heartbeat);
    clearTimeout(timeout);
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
  write(`retry: ${RECONNECT_MILLISECONDS}\n\n`);
}
