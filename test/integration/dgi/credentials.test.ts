import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { CredentialsCheckUnavailable, createCredentialsCheck } from '../../../src/dgi/credentials.ts';
import { answers, aServer } from '../../support/dgi/aServer.ts';
import { freePort } from '../../support/processes/services.ts';

const LOGIN = { rut: '219999830019', username: 'usuario', password: 'secreto-muy-largo' };
let server: Awaited<ReturnType<typeof aServer>>;
beforeAll(async () => {
  server = await aServer();
});
afterAll(() => server.stop());

const check = (url = server.url, timeoutSeconds = 2) =>
  createCredentialsCheck({ url, timeoutSeconds })(LOGIN);
const says = (body: unknown, status = 200) =>
  server.behaves(answers(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } }));

describe('createCredentialsCheck', () => {
  test('a login that holds, with what it may do', async () => {
    says({ login: 'success', permissions: ['PROD', 'HOMO', 'OTHER'], message: 'ok' });
    expect(await check()).toEqual({ login: 'success', permissions: ['HOMO', 'PROD'], message: 'ok' });
    expect(JSON.parse(server.requests.at(-1)?.body ?? '')).toEqual(LOGIN);
  });

  test('a login that does not', async () => {
    says({ login: 'failed' });
    expect(await check()).toEqual({ login: 'failed', permissions: [], message: '' });
  });

  test.each([
    ['an error', () => says({ login: 'success' }, 500)],
    ['another shape', () => says({ login: 'perhaps' })],
    ['no JSON', () => server.behaves(answers('<html>'))],
    ['too much', () => server.behaves(answers('x'.repeat(100_000)))],
    ['a redirect', () => server.behaves(answers('', { status: 302, headers: { location: '/' } }))],
    ['a dropped connection', () => server.behaves((response) => response.destroy())],
    ['silence', () => server.behaves(() => {})],
  ])('%s is no answer, and its error keeps the login to itself', async (_, prepare) => {
    prepare();
    const error: unknown = await check(server.url, 0.5).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(CredentialsCheckUnavailable);
    const shown = `${String(error)} ${JSON.stringify(error)} ${error instanceof Error ? `${error.stack} ${String(error.cause)}` : ''}`;
    expect(shown).not.toMatch(/secreto|usuario/);
  });

  test('nobody there is no answer', async () => {
    await expect(check(`http://127.0.0.1:${await freePort()}`)).rejects.toThrow(CredentialsCheckUnavailable);
  });
});
