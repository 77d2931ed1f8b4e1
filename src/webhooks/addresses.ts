import ipaddr from 'ipaddr.js';

/** Addresses in a public range that lead into a cloud: Azure's WireServer. */
const INNER = new Set(['168.63.129.16']);
/**
 * The only part of IPv6 that IANA assigns for the internet; the deprecated `::/96` and `fec0::/10` are
 * outside.
 */
const GLOBAL_UNICAST = ipaddr.IPv6.parse('2000::');
const GLOBAL_UNICAST_BITS = 3;

/**
 * Returns whether an address belongs to the internet: not private, loopback, link-local (metadata),
 * multicast, reserved, nor such an address wrapped in IPv6.
 */
export function isPublicAddress(text: string): boolean {
  // The parser mistakes `::8.8.8.8` (compatible, deprecated) for the mapped address.
  if (!ipaddr.isValid(text) || /^::[\d.]+$/.test(text)) return false;
  const address = ipaddr.process(text);
  if (address.range() !== 'unicast' || INNER.has(address.toString())) return false;
  return address.kind() === 'ipv4' || (address as ipaddr.IPv6).match(GLOBAL_UNICAST, GLOBAL_UNICAST_BITS);
}

/** Returns whether an address is this machine's own; receivers in development have such addresses. */
export const isLoopback = (text: string): boolean => text === '127.0.0.1' || text === '::1';
