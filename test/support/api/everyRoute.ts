import { expect, test } from '@jest/globals';
import { aRut } from '../receipts/papers.ts';
import type { ApiSuite } from './apiSuite.ts';
import { expectRefusal } from './expectRefusal.ts';

interface RouteUnderTest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path of the route for an enterprise. */
  path: (rut: string) => string;
  /** An enterprise of the owner. */
  rut: () => Promise<string>;
  body?: () => unknown;
  sandbox?: true;
}

/** The tests that every route of an enterprise must pass: who may not call it, and how it must not be called. */
export function testsOfEveryEnterpriseRoute(suite: ApiSuite, route: RouteUnderTest): void {
  const { method, path } = route;
  const sending = () => (route.body ? { body: route.body() } : {});

  test('401: without key or token', async () => {
    const { client } = suite.api;
    const headers = { 'x-api-key': suite.owner.apiKey };
    expectRefusal(await client.send(method, path(await route.rut()), sending()), 401, 'UNAUTHORIZED');
    expectRefusal(
      await client.send(method, path(await route.rut()), { ...sending(), headers }),
      401,
      'UNAUTHORIZED',
    );
  });

  test('403: an account without a role for the enterprise', async () => {
    const answer = await suite.stranger.client.send(method, path(await route.rut()), sending());
    expectRefusal(answer, 403, 'FORBIDDEN');
  });

  test('404: a RUT that is not registered', async () => {
    const rut = aRut();
    const error = expectRefusal(
      await suite.owner.client.send(method, path(rut), sending()),
      404,
      'NOT_FOUND',
    );
    expect(error.message).toContain(rut);
  });

  test('400: a RUT whose check digit is wrong', async () => {
    const error = expectRefusal(
      await suite.owner.client.send(method, path('219999830018'), sending()),
      400,
      'INVALID_INPUT',
    );
    expect(error.details?.fields).toEqual([
      {
        path: '/path/rut',
        code: 'rut.check_digit',
        message: expect.stringContaining('its check digit is 9'),
        docs: 'https://cfe.example/v1/docs/refused#rut.check_digit',
      },
    ]);
  });

  test('400: a query parameter that nobody knows', async () => {
    const answer = await suite.owner.client.send(method, `${path(await route.rut())}?sort=up`, sending());
    const error = expectRefusal(answer, 400, 'INVALID_INPUT');
    expect(error.details?.fields).toContainEqual(
      expect.objectContaining({ path: '/query/sort', code: 'body.unknown_field' }),
    );
  });

  if (!route.sandbox) {
    test('400 and 403: sandbox is not supported', async () => {
      const live = suite.owner.client.with({ 'x-sandbox-mode': 'true' });
      expectRefusal(await live.send(method, path(await route.rut()), sending()), 400, 'INVALID_INPUT');
      const test = suite.sandbox.client.with({ 'x-sandbox-mode': 'false' });
      expectRefusal(await test.send(method, path(await route.rut()), sending()), 403, 'FORBIDDEN');
    });
  }

  if (route.body) {
    test('400, 413 and 415: what is not a JSON object of sensible size', async () => {
      const { client } = suite.owner;
      const at = path(await route.rut());
      expectRefusal(await client.send(method, at, { body: '{"a":' }), 400, 'INVALID_INPUT');
      expectRefusal(await client.send(method, at, { body: '[]' }), 400, 'INVALID_INPUT');
      expectRefusal(
        await client.send(method, at, { body: `{"a":"${'x'.repeat(1_100_000)}"}` }),
        413,
        'PAYLOAD_TOO_LARGE',
      );
      const headers = { 'content-type': 'text/plain' };
      expectRefusal(await client.send(method, at, { body: '{}', headers }), 415, 'UNSUPPORTED_MEDIA_TYPE');
    });
  }
}
