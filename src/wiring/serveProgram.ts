import type { RequestListener } from 'node:http';
import type { Registry } from 'prom-client';
import { closeServer, createHttpServer, listen } from '../http/server.ts';
import { serveHealth } from './health.ts';
import type { Closers } from './process.ts';

/** Time for running requests to finish when the process ends. */
const GRACE_MILLISECONDS = 20_000;

/** Serves a program over HTTP, and its health and metrics on a separate port. Returns both ports. */
export async function serveProgram(options: {
  handle: RequestListener;
  host: string;
  port: number;
  metricsPort: number;
  ready: () => Promise<boolean>;
  registry: Registry;
  /** Wakes waiting requests, so that the server can finish them. */
  waiting: { close(): void };
  closers: Closers;
}): Promise<{ port: number; metricsPort: number }> {
  const { handle, host, ready, registry, waiting, closers } = options;
  const server = createHttpServer(handle);
  closers.add('http', () => closeServer(server, GRACE_MILLISECONDS));
  closers.add('waiting', () => waiting.close());
  const port = await listen(server, { host, port: options.port });
  // After the server, so that a process is already listening when it reports that it is ready.
  const health = await serveHealth({
    host,
    port: options.metricsPort,
    ready,
    metrics: () => registry.metrics(),
  });
  closers.add('health', () => health.close());
  return { port, metricsPort: health.port };
}
