/** A Temporal server behind TLS: a proxy that ends it, as an operator's or a cloud's does. */
import { readFileSync } from 'node:fs';
import {
  connect,
  createSecureServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { PemFiles } from '../enterprises/certificates.ts';

/** gRPC: whoever calls is not known. */
const UNAUTHENTICATED = '16';

export interface SecuredTemporal extends AsyncDisposable {
  readonly port: number;
}

/**
 * Passes every call on to the server at `address`. It demands a certificate by `clientCa`, or an API key, where given;
 * TLS without the one fails, a call without the other is refused.
 */
export async function secureTemporal(options: {
  address: string;
  server: PemFiles;
  clientCa?: string;
  apiKey?: string;
}): Promise<SecuredTemporal> {
  const behind = connect(`http://${options.address}`);
  const sessions = new Set<ServerHttp2Session>();
  const proxy = createSecureServer({
    cert: readFileSync(options.server.cert),
    key: readFileSync(options.server.key),
    ...(options.clientCa
      ? { ca: readFileSync(options.clientCa), requestCert: true, rejectUnauthorized: true }
      : {}),
  });
  proxy.on('session', (session) => {
    sessions.add(session);
    session.on('close', () => sessions.delete(session));
    session.on('error', () => undefined);
  });
  proxy.on('stream', (stream, headers) => {
    if (options.apiKey !== undefined && headers.authorization !== `Bearer ${options.apiKey}`) {
      stream.respond(
        { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': UNAUTHENTICATED },
        { endStream: true },
      );
      return;
    }
    passOn(stream, behind.request({ ...headers, ':scheme': 'http', ':authority': options.address }));
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  return {
    port: (proxy.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      for (const session of sessions) session.destroy();
      behind.destroy();
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
}

function passOn(stream: ServerHttp2Stream, call: ReturnType<ReturnType<typeof connect>['request']>): void {
  let trailers: IncomingHttpHeaders = {};
  call.on('trailers', (headers) => (trailers = headers));
  call.on('response', (headers) => {
    if (stream.closed) return;
    // A call that fails at once has its trailers as headers, and no body.
    const endStream = headers['grpc-status'] !== undefined;
    stream.respond(headers, { endStream, waitForTrailers: !endStream });
    if (!endStream) call.pipe(stream);
  });
  stream.on('wantTrailers', () => stream.sendTrailers(trailers));
  stream.on('error', () => call.close());
  stream.on('aborted', () => call.close());
  call.on('error', () => stream.close());
  stream.pipe(call);
}
