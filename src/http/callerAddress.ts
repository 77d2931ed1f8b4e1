/** Finds the caller's address (docs/contract.md#limits). Only this file reads X-Forwarded-For, not Koa. */
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Bits of an IPv6 address that identify a network: one caller may have all addresses of a network. */
const NETWORK_BITS = 64;
const BITS_PER_PART = 16;

/**
 * Returns the caller's network address. Each proxy appends the address of its client to X-Forwarded-For, so the
 * `trustedProxies`-th entry from the end is the caller; earlier entries come from the caller and may be false. With 0
 * proxies the caller has the address of the socket. A malformed entry ends the chain.
 */
export function callerAddress(
  { socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>,
  trustedProxies: number,
): string {
  const forwarded =
    trustedProxies === 0 ? [] : [headers['x-forwarded-for'] ?? ''].flat().join(',').split(',');
  let address = withoutMapping(socket.remoteAddress ?? 'unknown');
  for (let passed = 1; passed <= trustedProxies; passed += 1) {
    const before = withoutPort(forwarded.at(-passed)?.trim() ?? '');
    if (isIP(before) === 0) break;
    address = withoutMapping(before);
  }
  return address;
}

/** Returns an IPv4 address without its IPv6 notation: both are the same caller. */
const withoutMapping = (address: string): string => address.replace(/^::ffff:(?=[\d.]+$)/i, '');

/** Returns an address without the port that some proxies add: `1.2.3.4:5`, `[2001:db8::1]:5`. */
function withoutPort(text: string): string {
  const [, v6, v4] = /^(?:\[([\da-fA-F:.]{2,45})\](?::\d{1,5})?|([\d.]{7,15}):\d{1,5})$/.exec(text) ?? [];
  return v6 ?? v4 ?? text;
}

/** Returns the network that limits count for: an IPv4 address, or an IPv6 network. `bits`: a multiple of 16. */
export function networkOf(address: string, bits = NETWORK_BITS): string {
  if (isIP(address) !== 6) return address;
  const { parts: all } = ipaddr.IPv6.parse(address);
  const parts = all.map((part, i) => (i < bits / BITS_PER_PART ? part : 0));
  return `${new ipaddr.IPv6(parts).toString()}/${bits}`;
}
