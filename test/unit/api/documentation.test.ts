import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Orm } from '../../../src/db/orm.ts';
import { RULE_TABLES } from '../../../src/domain/requests/ruleTables.ts';
import { REFUSAL_CODES } from '../../../src/errors.ts';
import { startApi, type TestApi } from '../../support/api/api.ts';
import { DOCUMENT } from '../../support/openapi/conformance.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi({ orm: {} as Orm });
});
afterAll(() => api[Symbol.asyncDispose]());

const get = (path: string, init: RequestInit = {}): Promise<Response> => fetch(api.baseUrl + path, init);

describe('GET /v1/openapi.json', () => {
  test('is the document of the routes that are served, without login', async () => {
    const answer = await get('/openapi.json');

    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      200,
      'application/json; charset=utf-8',
    ]);
    const document = (await answer.json()) as typeof DOCUMENT;
    expect(Object.keys(document.paths)).toEqual(Object.keys(DOCUMENT.paths));
    expect(document.components['schemas']).toEqual(
      JSON.parse(JSON.stringify(DOCUMENT.components['schemas'])),
    );
  });

  test('HEAD answers without the body, POST is 405', async () => {
    const head = await get('/openapi.json', { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    const post = await get('/openapi.json', { method: 'POST' });
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
  });
});

describe('GET /v1/docs/reference', () => {
  test('is a page that loads from this host alone', async () => {
    const answer = await get('/docs/reference');
    const page = await answer.text();

    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(answer.headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    expect(page).not.toMatch(/https?:|\/\/|<style|style=|\son\w+=|<script>/);
  });

  test('finds every file it asks for, of the right type', async () => {
    const page = await (await get('/docs/reference')).text();
    const files = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1] ?? '');

    expect(files).toHaveLength(4);
    for (const file of files) {
      const answer = await get(`/docs/${file}`);
      expect([file, answer.status]).toEqual([file, 200]);
      expect(answer.headers.get('content-type')).toMatch(
        /^(text\/(javascript|css); charset=utf-8|image\/png)$/,
      );
      expect((await answer.arrayBuffer()).byteLength).toBeGreaterThan(100);
    }
  });

  test('explains every error in a guide, to which the description links', async () => {
    const answer = await get('/docs/refused');
    const page = await answer.text();
    const ids = new Set([...page.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id));

    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(page).not.toMatch(/https?:|<style|style=|<script/);
    expect(REFUSAL_CODES.filter((code) => !ids.has(code))).toEqual([]);
    const codes = RULE_TABLES.flatMap(({ rules }) => rules.map(([code]) => code));
    expect(codes.filter((code) => !ids.has(code))).toEqual([]);
    const linked = [...JSON.stringify(DOCUMENT).matchAll(/"url":"docs\/refused#([^"]+)"/g)].map(
      ([, id = '']) => id,
    );
    expect(linked).toEqual(expect.arrayContaining([...REFUSAL_CODES, 'rules']));
    expect(linked.filter((id) => !ids.has(id))).toEqual([]);
  });

  test('asks no validator of another host and takes no document of another host', async () => {
    const start = await (await get('/docs/start.js')).text();

    expect(start).toContain("url: '../openapi.json'");
    expect(start).toContain('validatorUrl: null');
    expect(start).toContain('queryConfigEnabled: false');
    expect(start).toContain('persistAuthorization: false');
  });

  test.each([
    '/docs/',
    '/docs/index.html',
    '/docs/../app.ts',
    '/docs/%2e%2e/package.json',
    '/docs/package.json',
  ])('serves nothing else of the package: %s', async (path) => {
    expect((await get(path)).status).toBe(404);
  });

  test.each([
    ['/docs/en/nope', '<html lang="en">', '/v1/docs/en?'],
    ['/docs/es/nope', '<html lang="es">', '/v1/docs/es?'],
  ])('a page that does not exist is a page, with the way back: %s', async (path, html, back) => {
    const answer = await get(path);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
    const page = await answer.text();
    expect(page).toContain(html);
    expect(page.split('<main')[1]).toContain(back);
  });

  test('of a parameter that is there again and again the first counts', async () => {
    const page = await (await get('/docs/es/search?q=exclaves&q=zzz&code=py&code=ts')).text();
    expect(page).toContain('<ol class="found">');
    expect(page).toContain('name="code" value="py"');
  });

  test('is logged by its path, at no account', async () => {
    api.lines.length = 0;
    await get('/docs?token=hunter2');
    expect(api.lines).toMatchObject([{ route: '/v1/docs', accountId: null, status: 200 }]);
    expect(JSON.stringify(api.lines)).not.toContain('hunter2');
  });
});
