import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';

/** A message of gRPC without any field: not compressed, no bytes. Every answer of Temporal may be one. */
const EMPTY = Buffer.alloc(5);

/** Stands in for Temporal where its own cost is not to be measured: whatever it is asked to start counts as started. */
export async function startTemporalThatAgrees(): Promise<{ address: string; stop(): Promise<void> }> {
  const server = createServer();
  server.on('stream', (stream) => {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.end(EMPTY);
  });
  const sessions = new Set<{ destroy(): void }>();
  server.on('session', (session) => sessions.add(session));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    address: `127.0.0.1:${port}`,
    async stop() {
      for (const session of sessions) session.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
