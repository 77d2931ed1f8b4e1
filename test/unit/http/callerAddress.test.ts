import type { IncomingMessage } from 'node:http';
import { describe, expect, test } from '@jest/globals';
import { callerAddress, networkOf } from '../../../src/http/callerAddress.ts';

const PROXY = '10.0.0.1';
const addressOf = (forwarded: string | undefined, trustedProxies: number, remoteAddress = PROXY) =>
  callerAddress(
    {
      socket: { remoteAddress },
      headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
    } as unknown as IncomingMessage,
    trustedProxies,
  );

describe('whose address counts', () => {
  test.each([
    ['no proxy is trusted', '192.0.2.1', 0, PROXY],
    ['one is, and says nothing', undefined, 1, PROXY],
    ['one is, and tells its caller', '192.0.2.1', 1, '192.0.2.1'],
    ['what the caller said before it is not believed', '198.51.100.9, 192.0.2.1', 1, '192.0.2.1'],
    ['two are', '198.51.100.9, 192.0.2.1, 10.0.0.2', 2, '192.0.2.1'],
    ['two are, and the inner one was called directly', '192.0.2.1', 2, '192.0.2.1'],
    ['a word is no address', 'unknown', 1, PROXY],
    ['a word ends the chain', '192.0.2.1, unknown, 10.0.0.2', 3, '10.0.0.2'],
    ['a number is no address', '3221225985', 1, PROXY],
    ['a port does not count', '192.0.2.1:4711', 1, '192.0.2.1'],
    ['nor with IPv6', '[2001:db8::1]:4711', 1, '2001:db8::1'],
    ['IPv6 as it is', '2001:db8::1', 1, '2001:db8::1'],
    ['empty places', ' , ,', 2, PROXY],
    ['of 16 KB, only the end is looked at', `${'1,'.repeat(8_000)}192.0.2.1`, 1, '192.0.2.1'],
  ])('%s', (_what, forwarded, trustedProxies, address) => {
    expect(addressOf(forwarded, trustedProxies)).toBe(address);
  });

  test('an IPv4 address that IPv6 wraps is that IPv4 address, of a socket and of a proxy’s word', () => {
    expect(addressOf(undefined, 0, '::ffff:192.0.2.1')).toBe('192.0.2.1');
    expect(addressOf('::ffff:192.0.2.1', 1)).toBe('192.0.2.1');
  });

  test('several fields count as one, whatever Node makes of them', () => {
    const headers = { 'x-forwarded-for': ['198.51.100.9', '192.0.2.1'] };
    const request = { socket: { remoteAddress: PROXY }, headers } as unknown as IncomingMessage;
    expect(callerAddress(request, 1)).toBe('192.0.2.1');
  });

  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::9', '2001:db8:1:2::/64'],
    ['fe80::1%eth0', 'fe80::/64'],
    ['unknown', 'unknown'],
  ])('%s is counted as %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });
});
