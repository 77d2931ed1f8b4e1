import { execFile } from 'node:child_process';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type * as z from 'zod';
import { CfeClient, CfeRefused, CfeUnanswered } from '../../../sdk/src/index.ts';
import { ROUTES } from '../../../src/api/routes/index.ts';
import { until } from '../../support/until.ts';

/** What the server answers to the next request; the last goes on for ever. `hung`: nothing, for as long as one waits. */
type Answer = { status: number; body: unknown; headers?: Record<string, string> } | 'dropped' | 'hung';

interface Asked {
  method: string | undefined;
  url: string | undefined;
  headers: IncomingMessage['headers'];
  body: string;
}

const TOKEN: Answer = {
  status: 200,
  body: { data: { access_token: 'token-x', token_type: 'Bearer', expires_in: 0 } },
};
const CFE = { cfe_id: '101-1', cfe_status: 'ACCEPTED', total_amount: 122 };
const ISSUED: Answer = { status: 201, body: { data: CFE } };
const refusal = (status: number, code: string, headers: Record<string, string> = {}): Answer => ({
  status,
  body: { error: { code, message: `${code}.` } },
  headers,
});

let server: Server;
let answers: Answer[];
/** To those who ask for a token; where there are none left, they get it. */
let tokenAnswers: Answer[];
let asked: Asked[];
let tokens: number;
let lifetime: number;
let baseUrl: string;

beforeEach(async () => {
  [answers, tokenAnswers, asked, tokens, lifetime] = [[], [], [], 0, 3600];
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let body = '';
    for await (const piece of request) body += String(piece);
    const json = (status: number, value: unknown, headers: Record<string, string> = {}): void => {
      response
        .writeHead(status, { 'Content-Type': 'application/json', ...headers })
        .end(typeof value === 'string' ? value : JSON.stringify(value));
    };
    const give = (answer: Answer): void => {
      if (answer === 'dropped') response.destroy();
      else if (answer !== 'hung') json(answer.status, answer.body, answer.headers);
    };
    if (request.url === '/v1/tokens') {
      tokens += 1;
      const other = tokenAnswers.shift();
      if (other) return give(other);
      return json(200, {
        data: { access_token: `token-${tokens}`, token_type: 'Bearer', expires_in: lifetime },
      });
    }
    asked.push({ method: request.method, url: request.url, headers: request.headers, body });
    give((answers.length > 1 ? answers.shift() : answers[0]) ?? ISSUED);
  };
  server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
});
afterEach(
  () =>
    new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    }),
);

const aClient = (more: { patienceSeconds?: number; sandboxApiKey?: string } = {}): CfeClient =>
  new CfeClient({ baseUrl, apiKey: 'cfe_live_x', ...more });
const read = (client: CfeClient): Promise<unknown> =>
  client.call('getEnterprise', { path: { rut: '219999830019' } });
const issue = (client: CfeClient, options = {}): Promise<unknown> =>
  client.issue('219999830019', { cfe_type: 'ETICKET' } as never, options);
/** What a call threw. */
const endOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => {
      throw new Error('it was not refused');
    },
    (thrown: unknown) => thrown,
  );
const untilAsked = (): Promise<unknown> => until('a request', 10, async () => asked.length > 0);
const page = (ids: string[], after?: string): Answer => ({
  status: 200,
  body: { data: { items: ids.map((cfe_id) => ({ ...CFE, cfe_id })), total: 9 } },
  headers: after ? { Link: `</v1/enterprises/2/cfes?limit=100&after=${after}>; rel="next"` } : {},
});

describe('the SDK', () => {
  test('asks for messages in English, or in the language that it is given', async () => {
    await read(aClient());
    await read(new CfeClient({ baseUrl, apiKey: 'cfe_live_x', language: 'es' }));
    expect(asked.map(({ headers }) => headers['accept-language'])).toEqual(['en', 'es']);
  });

  test.each(['', 'http://127.0.0.1:3000', 'cfe.example.com/v1'])('refuses the address %j', (address) => {
    expect(() => new CfeClient({ baseUrl: address, apiKey: 'cfe_live_x' })).toThrow(
      `baseUrl must be an address that ends in /v1, found ${JSON.stringify(address)}`,
    );
  });

  test('says which host did not answer, and why', async () => {
    const client = new CfeClient({
      baseUrl: 'http://127.0.0.1:1/v1',
      apiKey: 'cfe_live_x',
      patienceSeconds: 0,
    });
    await expect(read(client)).rejects.toThrow(/^POST \/tokens was not answered by 127\.0\.0\.1:1: .+/);
  });

  test('many calls at once share one token; a new one is fetched when it is old, and when it is refused', async () => {
    const client = aClient();
    await Promise.all([read(client), read(client), read(client)]);
    expect(tokens).toBe(1);

    answers = [refusal(401, 'UNAUTHORIZED'), { status: 200, body: { data: {} } }];
    await read(client);
    expect(tokens).toBe(2);
    expect(asked.at(-1)?.headers.authorization).toBe('Bearer token-2');

    lifetime = 0;
    const hasty = aClient();
    await read(hasty);
    await read(hasty);
    expect(tokens).toBe(4);
  });

  test('a token that is refused again is not renewed for ever', async () => {
    answers = [refusal(401, 'UNAUTHORIZED')];
    await expect(read(aClient())).rejects.toMatchObject({
      name: 'CfeRefused',
      code: 'UNAUTHORIZED',
      status: 401,
    });
    expect(asked).toHaveLength(2);
  });

  test('a lost answer, 429 and 503 are asked again with the same Idempotency-Key', async () => {
    answers = [
      'dropped',
      refusal(503, 'UNAVAILABLE', { 'Retry-After': '0' }),
      refusal(429, 'RATE_LIMITED', { 'Retry-After': '0' }),
      refusal(409, 'IDEMPOTENCY_IN_PROGRESS', { 'Retry-After': '0' }),
      ISSUED,
    ];
    await expect(issue(aClient())).resolves.toMatchObject({ cfe_id: '101-1' });

    const keys = asked.map(({ headers }) => headers['idempotency-key']);
    expect(keys).toHaveLength(5);
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('two calls have two keys, and a key that is given is kept', async () => {
    const client = aClient();
    await issue(client);
    await issue(client);
    await issue(client, { idempotencyKey: 'order-7' });
    const [one, two, three] = asked.map(({ headers }) => headers['idempotency-key']);
    expect(one).not.toBe(two);
    expect(three).toBe('order-7');
  });

  test('a refusal is told at once, with every fault and the request id', async () => {
    const fields = [{ path: '/header/totals/total_amount', code: 'totals.sum', message: 'Is not the sum.' }];
    answers = [
      {
        status: 400,
        body: { error: { code: 'INVALID_INPUT', message: 'Is not the sum.', details: { fields } } },
        headers: { 'X-Request-Id': 'r-1' },
      },
    ];
    const error = await issue(aClient()).catch((refused: unknown) => refused);
    expect(error).toBeInstanceOf(CfeRefused);
    expect(error).toMatchObject({ code: 'INVALID_INPUT', faults: fields, requestId: 'r-1' });
    expect(asked).toHaveLength(1);
  });

  test('patience has an end: a wait that is longer is not begun, and the refusal is told', async () => {
    answers = [refusal(429, 'RATE_LIMITED', { 'Retry-After': '3000' })];
    await expect(issue(aClient())).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    expect(asked).toHaveLength(1);
  });

  test('without any answer the error holds the key to ask again with', async () => {
    answers = ['dropped'];
    const error = await issue(aClient({ patienceSeconds: 1 })).catch((lost: unknown) => lost);
    expect(error).toBeInstanceOf(CfeUnanswered);
    expect((error as CfeUnanswered).idempotencyKey).toBe(asked[0]?.headers['idempotency-key']);
  });

  test('what a proxy answers in place of the API is no answer', async () => {
    answers = [{ status: 502, body: 'Bad gateway' }, ISSUED];
    await expect(issue(aClient())).resolves.toMatchObject({ cfe_id: '101-1' });
  });

  test('whoever gives up gets their own reason, also in the middle of a wait', async () => {
    answers = [refusal(503, 'UNAVAILABLE', { 'Retry-After': '60' })];
    const giveUp = new AbortController();
    const path = { rut: '219999830019' };
    const call = aClient().call('getEnterprise', { path }, { signal: giveUp.signal });
    const ended = endOf(call);
    await untilAsked();
    giveUp.abort(new Error('enough'));
    expect(await ended).toMatchObject({ message: 'enough' });

    await expect(issue(aClient(), { signal: giveUp.signal })).rejects.toMatchObject({ message: 'enough' });
    expect(asked).toHaveLength(1);
  });

  test('the sandbox is named where it issues, with its own key, and read with that of production', async () => {
    const client = aClient({ sandboxApiKey: 'cfe_test_x' });
    await client.issueAndWait('219999830019', { cfe_type: 'ETICKET' } as never, { environment: 'sandbox' });
    expect(asked[0]?.headers).toMatchObject({
      'x-api-key': 'cfe_test_x',
      'x-sandbox-mode': 'true',
      prefer: 'wait=30',
    });

    answers = [{ status: 200, body: { data: { items: [CFE], total: 1 } } }];
    await client.read('219999830019', '101-1', { environment: 'sandbox' });
    expect(asked[1]?.headers).toMatchObject({ 'x-api-key': 'cfe_live_x' });
    expect(asked[1]?.headers).not.toHaveProperty('x-sandbox-mode');
    expect(asked[1]?.url).toContain('environment=sandbox');
  });

  test('a sale without totals is completed by a preview, and issued as that answered', async () => {
    const sale = {
      cfe_type: 'ETICKET' as const,
      header: {
        doc_id: { emission_date: '2026-11-28', payment_method: 'CASH' as const },
        totals: { currency: 'UYU' as const, exchange_rate: 1 },
      },
      details: [
        { line_number: 1, iva_type: 'BASIC_RATE' as const, item_name: 'Yerba', count: 3, unit_price: 199.9 },
      ],
    };
    const whole =
      '{"cfe_type":"ETICKET","header":{"totals":{"total_amount":599.70,"line_count":1}},"details":[{"item_amount":599.70}]}';
    answers.push({ status: 200, body: `{"data":{"request":${whole},"warnings":[]}}` }, ISSUED);
    const client = new CfeClient({ baseUrl, apiKey: 'cfe_live_x', sandboxApiKey: 'cfe_test_x' });
    await client.issue('1', await client.complete('1', sale, 'gross'), { environment: 'sandbox' });
    expect(asked.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'POST /v1/enterprises/1/cfes/preview?prices=gross',
      'POST /v1/enterprises/1/cfes',
    ]);
    expect(JSON.parse(asked[0]?.body ?? '')).toEqual(sale);
    expect(JSON.parse(asked[1]?.body ?? '')).toEqual(JSON.parse(whole));
    expect(asked.map(({ headers }) => headers['x-sandbox-mode'])).toEqual([undefined, 'true']);
  });

  test('a credit note is issued with a key of its own', async () => {
    answers.push('dropped', ISSUED);
    const client = new CfeClient({ baseUrl, apiKey: 'cfe_live_x' });
    const note = await client.credit('1', '101-7', { reason: 'Devolución', percent: 10 });
    expect(note.cfe_id).toBe('101-1');
    expect(asked.map(({ url }) => url)).toEqual(
      Array.from({ length: 2 }, () => '/v1/enterprises/1/cfes/101-7/credit-notes'),
    );
    expect(new Set(asked.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
    expect(JSON.parse(asked[1]?.body ?? '')).toEqual({ reason: 'Devolución', percent: 10 });
  });

  test('what is gone after a lost answer was deleted; what was never there is refused', async () => {
    const remove = (): Promise<unknown> =>
      aClient().call('deleteCustomer', { path: { rut: '2', doc_type: 'RUC', doc_number: '3' } });
    answers = ['dropped', refusal(404, 'NOT_FOUND')];
    await expect(remove()).resolves.toBe(true);

    answers = [refusal(401, 'UNAUTHORIZED'), refusal(404, 'NOT_FOUND')];
    await expect(remove()).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  test('issueAndWait reads on until there is a verdict', async () => {
    const pending = { ...CFE, cfe_status: 'PENDING' };
    answers = [
      { status: 201, body: { data: pending } },
      { status: 200, body: { data: { items: [CFE], total: 1 } } },
    ];
    const cfe = await aClient().issueAndWait('219999830019', { cfe_type: 'ETICKET' } as never);
    expect(cfe.cfe_status).toBe('ACCEPTED');
    expect(asked.map(({ method }) => method)).toEqual(['POST', 'GET']);
  });

  test('a list is read page by page, and only as far as it is wanted', async () => {
    answers = [page(['101-5', '101-4'], 'c1'), page(['101-3'], 'c2'), page(['101-2'])];
    const ids: string[] = [];
    for await (const { cfe_id } of aClient().list('2', { cfe_type: 'ETICKET' })) {
      ids.push(cfe_id);
      if (ids.length === 3) break;
    }
    expect(ids).toEqual(['101-5', '101-4', '101-3']);
    expect(asked.map(({ url }) => url)).toEqual([
      '/v1/enterprises/2/cfes?limit=100&cfe_type=ETICKET',
      '/v1/enterprises/2/cfes?limit=100&cfe_type=ETICKET&after=c1',
    ]);
  });
});

describe('a call that may have been done', () => {
  const HTML = { 'Content-Type': 'text/html' };
  const NOT_NOW = { 'Retry-After': '3000' };
  /** What may come back, and how long one is patient with it. */
  const ENDS: readonly [name: string, patienceSeconds: number, answers: Answer[]][] = [
    ['never an answer', 1, ['dropped']],
    ['none in time', 1, ['hung']],
    ['only errors of the service', 1, [refusal(500, 'INTERNAL_ERROR')]],
    ['only 503', 60, [refusal(503, 'UNAVAILABLE', NOT_NOW)]],
    ['a proxy in place of the API', 1, [{ status: 502, body: '<h1>Bad gateway</h1>', headers: HTML }]],
    ['a proxy with JSON of its own', 1, [{ status: 504, body: { error: { code: 504, message: 'Late' } } }]],
    ['a page in place of the CFE', 1, [{ status: 200, body: '<h1>Log in</h1>', headers: HTML }]],
    ['half a CFE', 1, [{ status: 201, body: '{"data":{"cfe_id":"101-' }]],
    ['a twin that is still at work', 60, [refusal(409, 'IDEMPOTENCY_IN_PROGRESS', NOT_NOW)]],
    ['lost, then 503', 60, ['dropped', refusal(503, 'UNAVAILABLE', NOT_NOW)]],
    ['lost, then the rate limit', 60, ['dropped', refusal(429, 'RATE_LIMITED', NOT_NOW)]],
    ['lost, then no role any more', 60, ['dropped', refusal(404, 'NOT_FOUND')]],
    ['lost, then a key that was revoked', 60, ['dropped', refusal(401, 'UNAUTHORIZED')]],
    ['lost, then a fault', 60, ['dropped', refusal(400, 'INVALID_INPUT')]],
  ];
  test.each(ENDS)('is no refusal, and its key is told: %s', async (_, patienceSeconds, given) => {
    const client = aClient({ patienceSeconds });
    await read(client);
    [answers, asked] = [given, []];
    const error = await endOf(issue(client));
    expect(error).toBeInstanceOf(CfeUnanswered);
    const { idempotencyKey = '' } = error as CfeUnanswered;
    expect(idempotencyKey).toMatch(/^[0-9a-f-]{36}$/);
    expect(asked.filter(({ headers }) => headers['idempotency-key'] !== idempotencyKey)).toEqual([]);
  });

  test('tells what was last said, and when to ask again; with its key the first answer comes', async () => {
    const limit = refusal(429, 'RATE_LIMITED', { 'Retry-After': '3000' });
    answers = ['dropped', limit, ISSUED];
    const client = aClient();
    const error = await endOf(issue(client));
    expect(error).toMatchObject({ retryAfterSeconds: 3000, refusal: { code: 'RATE_LIMITED', status: 429 } });

    const { idempotencyKey } = error as CfeUnanswered;
    await expect(issue(client, { idempotencyKey })).resolves.toMatchObject({ cfe_id: '101-1' });
    expect(new Set(asked.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
  });

  test('keeps its key where the token ends meanwhile and there is no other', async () => {
    lifetime = 0;
    tokenAnswers = [TOKEN, refusal(401, 'INVALID_API_KEY')];
    answers = ['dropped', ISSUED];
    const error = await endOf(issue(aClient()));
    expect(error).toBeInstanceOf(CfeUnanswered);
    expect(error).toMatchObject({
      idempotencyKey: asked[0]?.headers['idempotency-key'],
      refusal: { code: 'INVALID_API_KEY' },
    });
  });

  test('keeps its key where the caller gives up meanwhile', async () => {
    answers = ['hung'];
    const giveUp = new AbortController();
    const ended = endOf(issue(aClient(), { signal: giveUp.signal }));
    await untilAsked();
    giveUp.abort(new Error('enough'));
    const error = await ended;
    expect(error).toBeInstanceOf(CfeUnanswered);
    expect(error).toMatchObject({
      cause: { message: 'enough' },
      idempotencyKey: asked[0]?.headers['idempotency-key'],
    });
  });

  test('is refused where its key is of another request: this one was never taken', async () => {
    const code = 'IDEMPOTENCY_KEY_REUSED';
    const fault = { path: '/extra', code: 'idempotency_key.reused', message: 'Another.', docs: '/v1/docs' };
    const details = { enterprise_rut: '219999830019', cfe_id: '101-7', fields: [fault] };
    answers = [
      'dropped',
      { status: 422, body: { error: { code, message: 'Read it.', details } }, headers: {} },
    ];
    const error = await endOf(issue(aClient(), { idempotencyKey: 'order-7' }));
    expect(error).toBeInstanceOf(CfeRefused);
    expect(error).toMatchObject({
      code,
      idempotencyKey: 'order-7',
      madeByKey: { rut: '219999830019', cfeId: '101-7' },
      faults: [fault],
    });
  });

  test('changes without a key: what may have been deleted is no refusal either', async () => {
    answers = ['dropped', refusal(403, 'FORBIDDEN')];
    const error = await endOf(
      aClient().call('deleteCustomer', { path: { rut: '2', doc_type: 'RUC', doc_number: '3' } }),
    );
    expect(error).toBeInstanceOf(CfeUnanswered);
    expect(error).toMatchObject({ idempotencyKey: undefined, refusal: { code: 'FORBIDDEN' } });
  });

  test('reading changes nothing: what it is refused stays a refusal', async () => {
    answers = ['dropped', refusal(503, 'UNAVAILABLE', { 'Retry-After': '3000' })];
    const error = await endOf(read(aClient()));
    expect(error).toBeInstanceOf(CfeRefused);
    expect(error).toMatchObject({ code: 'UNAVAILABLE', retryAfterSeconds: 3000 });
  });

  test('a refusal says when to ask again, or nothing of it; and the key, which is still free', async () => {
    answers = [refusal(429, 'RATE_LIMITED', { 'Retry-After': '3000' })];
    expect(await endOf(issue(aClient(), { idempotencyKey: 'order-7' }))).toMatchObject({
      name: 'CfeRefused',
      retryAfterSeconds: 3000,
      idempotencyKey: 'order-7',
    });
    tokenAnswers = [refusal(401, 'INVALID_API_KEY')];
    expect(await endOf(issue(aClient(), { idempotencyKey: 'order-8' }))).toMatchObject({
      name: 'CfeRefused',
      code: 'INVALID_API_KEY',
      idempotencyKey: 'order-8',
    });
    answers = [refusal(409, 'NOT_SENT_YET')];
    const path = { rut: '2', cfe_id: '101-1' };
    expect(await endOf(aClient().call('getCfePdf', { path }))).toMatchObject({
      name: 'CfeRefused',
      code: 'NOT_SENT_YET',
      retryAfterSeconds: undefined,
    });
  });

  test('issueAndWait answers what was issued, whatever comes of waiting for its verdict', async () => {
    const pending: Answer = { status: 201, body: { data: { ...CFE, cfe_status: 'PENDING' } } };
    const wait = (options = {}): Promise<unknown> =>
      aClient().issueAndWait('219999830019', { cfe_type: 'ETICKET' } as never, options);
    answers = [pending, refusal(403, 'FORBIDDEN')];
    await expect(wait()).resolves.toMatchObject({ cfe_id: '101-1', cfe_status: 'PENDING' });

    [answers, asked] = [[pending, 'hung'], []];
    const giveUp = new AbortController();
    const issued = wait({ signal: giveUp.signal });
    await until('the reading', 10, async () => asked.length === 2);
    giveUp.abort(new Error('enough'));
    await expect(issued).resolves.toMatchObject({ cfe_id: '101-1', cfe_status: 'PENDING' });
  });

  test('what cannot be sent is told at once, and a key that is none neither', async () => {
    const client = aClient();
    const notSent = { name: 'TypeError' };
    await expect(client.issue('2', { cfe_type: 1n } as never)).rejects.toMatchObject(notSent);
    await expect(issue(client, { idempotencyKey: 'venta-№7' })).rejects.toMatchObject(notSent);
    await expect(issue(client, { idempotencyKey: ' ' })).rejects.toThrow('idempotencyKey');
    expect(asked).toEqual([]);
  });
});

describe('the environment', () => {
  test.each(ROUTES.map((route) => [route.name, route] as const))(
    'of %s is the sandbox where that is said, or nothing is asked',
    async (name, { method, sandbox, query }) => {
      const client = aClient({ sandboxApiKey: 'cfe_test_x' });
      const path = {
        rut: '2',
        cfe_id: '101-1',
        branch: '1',
        date: '2026-11-20',
        doc_type: 'RUC',
        doc_number: '3',
      };
      const request = { path, ...(method === 'GET' ? {} : { body: {} }) } as never;
      const call = client.call(name as 'issueCfe', request, { environment: 'sandbox' });
      if (sandbox) {
        await call;
        const headers = { 'x-api-key': 'cfe_test_x', 'x-sandbox-mode': 'true' };
        expect(asked).toMatchObject(name === 'createToken' ? [] : [{ headers }]);
      } else if (query && 'environment' in (query as z.ZodObject).shape) {
        await call;
        expect(asked[0]?.url).toMatch(/\?environment=sandbox$/);
        expect(asked[0]?.headers).toMatchObject({ 'x-api-key': 'cfe_live_x' });
        expect(asked[0]?.headers).not.toHaveProperty('x-sandbox-mode');
      } else {
        await expect(call).rejects.toThrow(`${name} has no sandbox`);
        expect(asked).toEqual([]);
      }
    },
  );

  test('that is said wins over what the query says; of neither, nothing is said', async () => {
    const client = aClient();
    const path = { rut: '2', cfe_id: '101-1' };
    const query = { environment: 'sandbox' as const };
    await client.call('getCfe', { path, query }, { environment: 'production' });
    await client.call('getCfe', { path, query });
    await client.call('getCfe', { path });
    expect(asked.map(({ url }) => url?.split('?')[1])).toEqual([
      'environment=production',
      'environment=sandbox',
      undefined,
    ]);
  });

  test('is known to the types too, and never production by a slip', async () => {
    const client = aClient({ sandboxApiKey: 'cfe_test_x' });
    const request = { path: { rut: '2', cfe_id: '101-1' }, body: { destination: 'a@example.com' } };
    // @ts-expect-error An e-mail is a real one.
    await expect(client.call('sendMail', request, { environment: 'sandbox' })).rejects.toThrow('no sandbox');
    await issue(client, { environment: 'Sandbox' });
    expect(asked.map(({ headers }) => headers['x-api-key'])).toEqual(['cfe_test_x']);
  });

  test('of those who have a sandbox key only: the state of the authority can be asked', async () => {
    const client = new CfeClient({ baseUrl, sandboxApiKey: 'cfe_test_x' });
    await client.call('getAuthority', {}, { environment: 'sandbox' });
    expect(asked[0]?.headers).toMatchObject({ 'x-api-key': 'cfe_test_x', 'x-sandbox-mode': 'true' });
    await expect(client.call('getAuthority', {})).rejects.toThrow(
      "getAuthority needs apiKey, or { environment: 'sandbox' }",
    );
  });
});

describe('every list is read to its end', () => {
  const listed = async (list: AsyncIterable<unknown>): Promise<unknown[]> => Array.fromAsync(list);
  const urls = (): (string | undefined)[] => asked.map(({ url }) => url);
  const answer = (data: unknown, headers: Record<string, string> = {}): Answer => ({
    status: 200,
    body: { data },
    headers,
  });

  test('customers, by the header Link', async () => {
    const next = '</v1/enterprises/2/customers?legal_name=sa&skip=2&limit=2>; rel="next"';
    answers = [answer([{ n: 1 }, { n: 2 }], { Link: next }), answer([{ n: 3 }])];
    const query = { legal_name: 'sa', limit: 2 };
    const all = await listed(aClient().all('listCustomers', { path: { rut: '2' }, query }));
    expect(all).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
    expect(urls()).toEqual([
      '/v1/enterprises/2/customers?limit=2&legal_name=sa',
      '/v1/enterprises/2/customers?limit=2&legal_name=sa&skip=2',
    ]);
  });

  test('enterprises and daily reports, by what was skipped', async () => {
    answers = [answer({ items: [1, 2], total: 4 }), answer({ items: [3], total: 4 })];
    const all = await listed(aClient().all('listEnterprises', { query: { skip: 1, limit: 2 } }));
    expect(all).toEqual([1, 2, 3]);
    expect(urls()).toEqual(['/v1/enterprises?limit=2&skip=1', '/v1/enterprises?limit=2&skip=3']);

    [answers, asked] = [[answer({ items: [1, 2], total: 2 }), answer({ items: [], total: 2 })], []];
    const path = { rut: '2' };
    expect(await listed(aClient().all('listDailyReports', { path, query: { limit: 2 } }))).toEqual([1, 2]);
  });

  test('events, by the place that each page tells', async () => {
    answers = [answer({ items: ['a', 'b'], next: 'b' }), answer({ items: ['c'], next: null })];
    const all = await listed(aClient().all('listEvents', { query: { after: '0', limit: 2 } }));
    expect(all).toEqual(['a', 'b', 'c']);
    expect(urls()).toEqual(['/v1/events?limit=2&after=0', '/v1/events?limit=2&after=b']);
  });

  test('and what comes whole is no such list: the types say so', async () => {
    answers = [refusal(400, 'INVALID_INPUT')];
    // @ts-expect-error Branches have no pages, and refuse a `limit`.
    const branches = aClient().all('listBranches', { path: { rut: '2' } });
    await expect(listed(branches)).rejects.toMatchObject({ code: 'INVALID_INPUT' });
  });

  test('CFEs begun in the middle, by the cursor alone', async () => {
    answers = [page(['101-9', '101-8'], 'c1'), page(['101-7'])];
    const query = { skip: 4, limit: 2 };
    expect(await listed(aClient().list('2', query, { environment: 'sandbox' }))).toHaveLength(3);
    expect(urls()).toEqual([
      '/v1/enterprises/2/cfes?limit=2&skip=4&environment=sandbox',
      '/v1/enterprises/2/cfes?limit=100&after=c1&environment=sandbox',
    ]);
  });
});

describe('an engine without exact numbers', () => {
  test.each([
    'delete JSON.rawJSON',
    'delete AbortSignal.any',
    'const { parse } = JSON; JSON.parse = (text, revive) => parse(text, (key, value) => revive(key, value, {}))',
  ])('is told at once: %s', async (lack) => {
    const address = pathToFileURL(join(import.meta.dirname, '../../../sdk/src/index.ts')).href;
    const program = `${lack}; await import(${JSON.stringify(address)}).then(() => console.log('loaded'), ({ message }) => console.log(message))`;
    const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', program];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    expect(stdout).toMatch(/^cfe-sdk needs /);
  });
});
