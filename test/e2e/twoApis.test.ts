import { afterAll, describe, expect, test } from '@jest/globals';
import { aKeyWithLimit } from '../support/api/abuse.ts';
import { type Answer, createHttpClient, type HttpClient } from '../support/api/http.ts';
import { aCfeBody } from '../support/receipts/cfeBodies.ts';
import { aRut } from '../support/receipts/papers.ts';
import { type ExtraProgram, sharedStack, startBeside } from '../support/stacks.ts';
import { until } from '../support/until.ts';
import { useStack } from '../support/useStack.ts';

interface CfeAnswer {
  cfe_id: string;
  cfe_status: string;
}

const RUT = aRut();
const PATH = `/enterprises/${RUT}/cfes`;

describe('two API processes behind one database', () => {
  let second: ExtraProgram;
  /** The same customer at either process. */
  let clients: [HttpClient, HttpClient];
  afterAll(() => second?.stop());
  const stack = useStack(sharedStack, async (of) => {
    await of.onboard([101], RUT);
    const { base_url, live_api_key } = of.info();
    // Both are reached at one address from outside.
    second = await startBeside(of, 'api', { CFE_PUBLIC_URL: new URL(base_url).origin });
    const answer = await createHttpClient(base_url, { 'x-api-key': live_api_key }).post<{
      access_token: string;
    }>('/tokens', {});
    const headers = { 'x-api-key': live_api_key, authorization: `Bearer ${answer.data.access_token}` };
    clients = [createHttpClient(base_url, headers), createHttpClient(second.baseUrl, headers)];
  });

  const issued = async (): Promise<number> =>
    (await clients[0].get<{ total: number }>(`${PATH}?limit=1`)).data.total;
  const replayed = ({ headers }: Answer) => headers.get('idempotent-replayed');

  test('whoever is told on the metrics port that an API is ready finds it listening', async () => {
    const third = await startBeside(stack, 'api');
    try {
      expect((await createHttpClient(third.baseUrl, {}).get('/openapi.json')).status).toBe(200);
    } finally {
      await third.stop();
    }
  });

  test('the rate limit is exact: of 150 requests at both, 100 are served', async () => {
    const bases = [stack.info().base_url, second.baseUrl];
    const hour = (): number => Math.floor(Date.now() / 3_600_000);
    let [began, statuses]: [number, number[]] = [0, []];
    // Once more, with another key, where the hour turned in between.
    while (began !== hour()) {
      began = hour();
      const apiKey = await aKeyWithLimit(stack, 100);
      const answers = await Promise.all(
        Array.from({ length: 150 }, (_, i) =>
          createHttpClient(bases[i % 2] ?? '', { 'x-api-key': apiKey }).post('/tokens', {}),
        ),
      );
      statuses = answers.map(({ status }) => status);
    }
    expect(statuses.filter((status) => status === 200)).toHaveLength(100);
    expect(statuses.filter((status) => status === 429)).toHaveLength(50);
  });

  test('50 posts with one key at both are one CFE', async () => {
    const before = await issued();
    const body = aCfeBody();

    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        (i % 2 === 0 ? clients[0] : clients[1]).post(PATH, body, { 'idempotency-key': 'fifty' }),
      ),
    );

    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers.filter((answer) => replayed(answer) === null)).toHaveLength(1);
    expect(await issued()).toBe(before + 1);
  });

  test('a process killed between commit and answer: the other answers with the CFE that was taken', async () => {
    const before = await issued();
    const headers = { 'idempotency-key': 'killed' };
    const body = aCfeBody({ itemName: 'SIM DELAY 20' });
    // The answer waits for the verdict, long after the commit.
    const lost = clients[1]
      .post(PATH, body, { ...headers, prefer: 'wait=30' })
      .then(({ status }) => `answered ${status}`)
      .catch(() => 'lost');
    await until('the commit', 20, async () => (await issued()) === before + 1);

    second.child.kill('SIGKILL');

    expect(await lost).toBe('lost');
    const again = await clients[0].post<CfeAnswer>(PATH, body, headers);
    expect([again.status, replayed(again)]).toEqual([201, 'true']);
    expect(again.data).toMatchObject({ cfe_status: 'PENDING' });
    expect(await issued()).toBe(before + 1);
    const { data } = await clients[0].get<{ items: CfeAnswer[] }>(`${PATH}?limit=1`);
    expect(data.items[0]?.cfe_id).toBe(again.data.cfe_id);
  });
});
