import type { IncomingMessage } from 'node:http';
import { expect, test } from '@jest/globals';
import { createProxyNotice } from '../../../src/http/proxyNotice.ts';
import { keptLog } from '../../support/api/api.ts';

const from = (address: string, forwarded?: string) =>
  ({
    socket: { remoteAddress: address },
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
  }) as Pick<IncomingMessage, 'socket' | 'headers'>;

/** What is warned of after these requests, 60 of each. */
function warnings(trustedProxies: number, ...requests: ReturnType<typeof from>[]): unknown[] {
  const { logger, lines } = keptLog();
  const notice = createProxyNotice({ trustedProxies, logger });
  for (let i = 0; i < 60; i += 1) for (const request of requests) notice(request);
  return lines.map(({ address }) => address);
}

test('one private address alone, or this machine with X-Forwarded-For, is warned of once', () => {
  expect(warnings(0, from('10.0.0.7'))).toEqual(['10.0.0.7']);
  expect(warnings(0, from('::ffff:172.18.0.3', '203.0.113.9'))).toEqual(['172.18.0.3']);
  expect(warnings(0, from('fd00::7'))).toEqual(['fd00::7']);
  expect(warnings(0, from('127.0.0.1', '203.0.113.9'), from('127.0.0.1', '203.0.113.8'))).toEqual([
    '127.0.0.1',
  ]);
});

test('neither one stray request nor a second proxy hides it', () => {
  const { logger, lines } = keptLog();
  const notice = createProxyNotice({ trustedProxies: 0, logger });
  for (const stray of [from('127.0.0.1'), from('10.0.0.9'), from('10.0.0.8'), from('203.0.113.9')])
    notice(stray);
  for (let i = 0; i < 25; i += 1) {
    notice(from('10.0.0.7', '203.0.113.9'));
    notice(from('10.0.0.8', '203.0.113.9'));
  }
  expect(lines).toHaveLength(1);

  expect(warnings(0, from('127.0.0.1'), from('10.0.0.7'))).toEqual(['10.0.0.7']);
});

test('nothing is said of a proxy that is trusted, of public addresses, of several, or of this machine itself', () => {
  expect(warnings(1, from('10.0.0.7'))).toEqual([]);
  expect(warnings(0, from('203.0.113.9'))).toEqual([]);
  expect(warnings(0, from('10.0.0.7'), from('10.0.0.8'))).toEqual([]);
  expect(warnings(0, from('127.0.0.1'))).toEqual([]);
  expect(warnings(0, from('203.0.113.9', '198.51.100.1'))).toEqual([]);
});
