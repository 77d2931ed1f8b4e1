/** One HTTP request to an address in a certificate: bounded in time and size, and only into the internet. */
import { isIP } from 'node:net';
import got from 'got';
import { isLoopback, isPublicAddress } from '../webhooks/addresses.ts';
import { askNameServers, askSystem } from '../webhooks/names.ts';
import { guardedLookup } from '../webhooks/send.ts';

const PATIENCE_MILLISECONDS = 4_000;
/** A list of some 20,000 certificates. */
const MOST_BYTES = 1024 * 1024;

/**
 * Returns the body of a 200; undefined for anything else, and for an address that may not be reached. `localServers`:
 * those of this machine may be reached too (development). `question`: is sent by POST.
 */
export async function fetchBounded(
  address: string,
  { localServers, question }: { localServers: boolean; question?: Uint8Array },
): Promise<Uint8Array | undefined> {
  const mayReach = (ip: string): boolean => isPublicAddress(ip) || (localServers && isLoopback(ip));
  const target = new URL(address);
  const literal = target.hostname.replace(/^\[|\]$/g, '');
  if (target.username || target.password || (isIP(literal) !== 0 && !mayReach(literal))) return undefined;
  const stream = got.stream(target, {
    ...(question && { method: 'POST', body: question }),
    headers: {
      'user-agent': undefined,
      ...(question && { 'content-type': 'application/ocsp-request' }),
    },
    decompress: false,
    dnsLookup: guardedLookup(localServers ? askSystem : askNameServers(), mayReach),
    followRedirect: false,
    retry: { limit: 0 },
    signal: AbortSignal.timeout(PATIENCE_MILLISECONDS),
  });
  try {
    const pieces: Buffer[] = [];
    let bytes = 0;
    for await (const piece of stream as AsyncIterable<Buffer>) {
      bytes += piece.length;
      if (bytes > MOST_BYTES) return undefined;
      pieces.push(piece);
    }
    return stream.response?.statusCode === 200 ? Buffer.concat(pieces) : undefined;
  } catch {
    return undefined;
  } finally {
    stream.destroy();
  }
}
