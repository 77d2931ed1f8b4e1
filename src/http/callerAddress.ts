/** Whose address counts (docs/contract.md#limits). Nothing else reads X-Forwarded-For; Koa's own reading stays off. */
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Bits of an IPv6 address that name a network; whoever has one has all its addresses. */
const NETWORK_BITS = 64;
const BITS_PER_PART = 16;

/**
 * The network address of the caller. Each proxy adds the address that it was called from at the end of X-Forwarded-For,
 * so of `trustedProxies` the one farthest from us tells the caller's; what stands before it is the caller's own word.
 * With 0 it is the address of the socket, whatever the field says. What is no address ends the chain.
 */
export function callerAddress(
  { socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>,
  trustedProxies: number,
): string {
  const told = trustedProxies === 0 ? [] : [headers['x-forwarded-for'] ?? ''].flat().join(',').split(',');
  let address = withoutMapping(socket.remoteAddress ?? 'unknown');
  for (let passed = 1; passed <= trustedProxies; passed += 1) {
    const before = withoutPort(told.at(-passed)?.trim() ?? '');
    if (isIP(before) === 0) break;
    address = withoutMapping(before);
  }
  return address;
}

/** How IPv6 writes an IPv4 address is the same caller. */
const withoutMapping = (address: string): string => address.replace(/^::ffff:(?=[\d.]+$)/i, '');

/** `1.2.3.4:5` and `[2001:db8::1]:5`, as some proxies write them. */
function withoutPort(text: string): string {
  const [, v6, v4] = /^(?:\[([\da-fA-F:.]{2,45})\](?::\d{1,5})?|([\d.]{7,15}):\d{1,5})$/.exec(text) ?? [];
  return v6 ?? v4 ?? text;
}

/** What is counted as one place: an IPv4 address, or the network of an IPv6 address, of 64 bits unless given (a multiple of 16). */
export function networkOf(address: string, bits = NETWORK_BITS): string {
  if (isIP(address) !== 6) return address;
  const { parts: all } = ipaddr.IPv6.parse(address);
  const parts = all.map((part, i) => (i < bits / BITS_PER_PART ? part : 0));
  return `${new ipaddr.IPv6(parts).toString()}/${bits}`;
}
