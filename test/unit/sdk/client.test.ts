import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { CfeClient, CfeRefused, CfeUnanswered } from '../../../sdk/src/index.ts';

/** What the server answers to the next request; the last goes on for ever. */
type Answer = { status: number; body: unknown; headers?: Record<string, string> } | 'dropped';

interface Asked {
  method: string | undefined;
  url: string | undefined;
  headers: IncomingMessage['headers'];
  body: string;
}

const CFE = { cfe_id: '101-1', cfe_status: 'ACCEPTED', total_amount: 122 };
const ISSUED: Answer = { status: 201, body: { data: CFE } };
const refusal = (status: number, code: string, headers: Record<string, string> = {}): Answer => ({
  status,
  body: { error: { code, message: `${code}.` } },
  headers,
});

let server: Server;
let answers: Answer[];
let asked: Asked[];
let tokens: number;
let lifetime: number;
let baseUrl: string;

beforeEach(async () => {
  [answers, asked, tokens, lifetime] = [[], [], 0, 3600];
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let body = '';
    for await (const piece of request) body += String(piece);
    const json = (status: number, value: unknown, headers: Record<string, string> = {}): void => {
      response
        .writeHead(status, { 'Content-Type': 'application/json', ...headers })
        .end(JSON.stringify(value));
    };
    if (request.url === '/v1/tokens') {
      tokens += 1;
      return json(200, {
        data: { access_token: `token-${tokens}`, token_type: 'Bearer', expires_in: lifetime },
      });
    }
    asked.push({ method: request.method, url: request.url, headers: request.headers, body });
    const answer = (answers.length > 1 ? answers.shift() : answers[0]) ?? ISSUED;
    if (answer === 'dropped') response.destroy();
    else json(answer.status, answer.body, answer.headers);
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

describe('the SDK', () => {
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
    const call = issue(aClient(), { signal: giveUp.signal });
    const ended = call.catch((reason: unknown) => reason);
    while (asked.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    giveUp.abort(new Error('enough'));
    expect(await ended).toMatchObject({ message: 'enough' });
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
    const page = (ids: string[], after?: string): Answer => ({
      status: 200,
      body: { data: { items: ids.map((cfe_id) => ({ ...CFE, cfe_id })), total: 9 } },
      headers: after ? { Link: `</v1/enterprises/2/cfes?limit=100&after=${after}>; rel="next"` } : {},
    });
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
