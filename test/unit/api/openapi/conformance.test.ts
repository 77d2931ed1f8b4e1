import { describe, expect, test } from '@jest/globals';
import { type Exchange, inspect } from '../../../support/openapi/conformance.ts';

const SOUND: Exchange = {
  method: 'GET',
  path: '/enterprises/219999830019/efactura-status?',
  status: 200,
  headers: new Headers({
    'content-type': 'application/json; charset=utf-8',
    'content-language': 'es',
    'x-request-id': 'request-1',
  }),
  text: '{"data":{"is_valid":false,"status":"VALIDATING","last_validated_at":null}}',
};
const ERROR = '{"error":{"code":"UNAUTHORIZED","message":"No."}}';
const withMore = (more: Record<string, string>): Headers =>
  new Headers([...SOUND.headers, ...Object.entries(more)]);

describe('the check that every integration test runs on every answer', () => {
  test('lets pass what is as described', () => {
    expect(() => inspect(SOUND)).not.toThrow();
    expect(() =>
      inspect({ ...SOUND, status: 401, headers: withMore({ 'www-authenticate': 'x' }), text: ERROR }),
    ).not.toThrow();
  });

  test.each<[string, Partial<Exchange>, string]>([
    ['a status that is not described', { status: 418 }, 'the status 418 is not described'],
    [
      'a field that is missing',
      { text: '{"data":{"is_valid":false,"status":"VALID"}}' },
      'last_validated_at',
    ],
    [
      'a value that is none of the enum',
      { text: SOUND.text.replace('VALIDATING', 'MAYBE') },
      'allowed values',
    ],
    [
      'a body of another type',
      { headers: new Headers({ 'content-type': 'text/plain' }) },
      'the type is text/plain',
    ],
    ['a header that is missing', { status: 401, text: ERROR }, 'the header WWW-Authenticate is missing'],
    [
      'a wait that is not described',
      { headers: withMore({ 'retry-after': '5' }) },
      'Retry-After is not described',
    ],
    [
      'a limit that does not say when to go on',
      { status: 429, text: ERROR.replace('UNAUTHORIZED', 'RATE_LIMITED') },
      'the header Retry-After is missing',
    ],
    [
      'a code that the status does not have',
      {
        status: 401,
        headers: withMore({ 'www-authenticate': 'x' }),
        text: ERROR.replace('UNAUTHORIZED', 'FORBIDDEN'),
      },
      'equal to constant',
    ],
    ['a path that is not described', { path: '/nothing' }, '404 is expected'],
    ['a method that is not described', { method: 'DELETE' }, '405 is expected'],
  ])('does not let pass %s', (_, wrong, words) => {
    expect(() => inspect({ ...SOUND, ...wrong })).toThrow(words);
  });

  test('lets a conflict say when to ask again, or nothing of it', () => {
    const early: Exchange = {
      ...SOUND,
      path: '/enterprises/219999830019/cfes/101-1/pdf',
      status: 409,
      text: ERROR.replace('UNAUTHORIZED', 'NOT_SENT_YET'),
    };
    for (const headers of [withMore({ 'retry-after': '5' }), SOUND.headers])
      expect(() => inspect({ ...early, headers })).not.toThrow();
  });

  test('asks for every method in Allow', () => {
    const text = '{"error":{"code":"METHOD_NOT_ALLOWED","message":"No."}}';
    const refused = { ...SOUND, method: 'PUT', status: 405, text };
    expect(() => inspect({ ...refused, headers: new Headers({ allow: 'HEAD' }) })).toThrow(
      'Allow has no GET',
    );
    expect(() => inspect({ ...refused, headers: new Headers({ allow: 'GET, HEAD' }) })).not.toThrow();
  });
});
