import ipaddr from 'ipaddr.js';

/** Public by their number, but answered inside a cloud: Azure's WireServer. */
const INNER = new Set(['168.63.129.16']);
/** The only part of IPv6 that is given out for the internet (IANA); the deprecated `::/96` and `fec0::/10` are not in it. */
const GLOBAL_UNICAST = ipaddr.IPv6.parse('2000::');
const GLOBAL_UNICAST_BITS = 3;

/**
 * Whether an address belongs to the internet: not private, loopback, link-local (metadata), multicast, reserved, nor a
 * wrapping of such an address in IPv6.
 */
export function isPublicAddress(text: string): boolean {
  // `::8.8.8.8` (compatible, deprecated) is another address than the mapped one that the parser makes of it.
  if (!ipaddr.isValid(text) || /^::[\d.]+$/.test(text)) return false;
  const address = ipaddr.process(text);
  if (address.range() !== 'unicast' || INNER.has(address.toString())) return false;
  return address.kind() === 'ipv4' || (address as ipaddr.IPv6).match(GLOBAL_UNICAST, GLOBAL_UNICAST_BITS);
}

/** Whether an address is this machine's own, as receivers in development have it. */
export const isLoopback = (text: string): boolean => text === '127.0.0.1' || text === '::1';
