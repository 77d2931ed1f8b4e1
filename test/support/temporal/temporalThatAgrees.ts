import { createServer, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** A message of gRPC without any field: not compressed, no bytes. Every answer of Temporal may be one. */
const EMPTY = Buffer.alloc(5);

/**
 * Stands in for Temporal where its own cost is not to be measured: whatever it is asked to start counts as started, once
 * `onCall`, which gets the method's path and the protobuf of the request, lets it be answered.
 */
export async function startTemporalThatAgrees({
  onCall,
}: {
  onCall?: (path: string, request: Buffer) => Promise<void>;
} = {}): Promise<{ address: string; stop(): Promise<void> }> {
  const server = createServer();
  const allowed = async (stream: ServerHttp2Stream, path: string): Promise<void> => {
    const body = await buffer(stream);
    await onCall?.(path, body.subarray(EMPTY.length));
  };
  const agree = (stream: ServerHttp2Stream): void => {
    if (stream.destroyed) return;
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.end(EMPTY);
  };
  server.on('stream', (stream, { ':path': path = '' }) => {
    // Whoever gives up resets the stream.
    stream.on('error', () => undefined);
    if (onCall)
      allowed(stream, path).then(
        () => agree(stream),
        () => undefined,
      );
    else agree(stream);
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
