import type { RequestListener } from 'node:http';
import type { Registry } from 'prom-client';
import { closeServer, createHttpServer, listen } from '../http/server.ts';
import { serveHealth } from './health.ts';
import type { Closers } from './process.ts';

/** Requests under way get this long to finish once the process is told to end. */
const GRACE_MILLISECONDS = 20_000;

/** Serves a program over HTTP, and its health and metrics on a port of their own. Answers both ports. */
export async function serveProgram(options: {
  handle: RequestListener;
  host: string;
  port: number;
  metricsPort: number;
  ready: () => Promise<boolean>;
  registry: Registry;
  /** What holds requests open: it is closed before the server, which then need not wait for them. */
  waiting: { close(): void };
  closers: Closers;
}): Promise<{ port: number; metricsPort: number }> {
  const { handle, host, ready, registry, waiting, closers } = options;
  const server = createHttpServer(handle);
  closers.add('http', () => closeServer(server, GRACE_MILLISECONDS));
  closers.add('waiting', () => waiting.close());
  const port = await listen(server, { host, port: options.port });
  // Opened after the server: whoever reads here that we are ready finds it listening.
  const health = await serveHealth({
    host,
    port: options.metricsPort,
    ready,
    metrics: () => registry.metrics(),
  });
  closers.add('health', () => health.close());
  return { port, metricsPort: health.port };
}
