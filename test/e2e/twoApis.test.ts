import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createAccount } from '../../src/commands/createAccount.ts';
import { createApiKey } from '../../src/commands/createApiKey.ts';
import { setRateLimit } from '../../src/commands/setRateLimit.ts';
import { createApiKeys } from '../../src/crypto/apiKeys.ts';
import { openOrm } from '../../src/db/orm.ts';
import { onboard, DEMO_RUT as RUT } from '../../src/demo/onboarding.ts';
import { montevideoDate } from '../../src/domain/montevideo.ts';
import type { StackSecrets } from '../../src/stack/secrets.ts';
import { idleOutbox } from '../support/commandDeps.ts';
import { type ExtraProcess, startBeside } from '../support/extraProcess.ts';
import { type Answer, createHttpClient, type HttpClient } from '../support/http.ts';
import { eTicket, startTestStack, type TestStack } from '../support/runningStack.ts';
import { until } from '../support/until.ts';

interface CfeAnswer {
  cfe_id: string;
  cfe_status: string;
}

const PATH = `/enterprises/${RUT}/cfes`;

describe('two API processes behind one database', () => {
  let stack: TestStack;
  let second: ExtraProcess;
  /** The same customer at either process. */
  let clients: [HttpClient, HttpClient];
  const today = montevideoDate(new Date());

  beforeAll(async () => {
    stack = await startTestStack();
    await onboard(stack.customer, stack.info().simulator_url, [101], () => {});
    second = await startBeside(stack, 'api');
    const { base_url, live_api_key } = stack.info();
    const answer = await createHttpClient(base_url, { 'x-api-key': live_api_key }).post<{
      access_token: string;
    }>('/tokens', {});
    const headers = { 'x-api-key': live_api_key, authorization: `Bearer ${answer.data.access_token}` };
    clients = [createHttpClient(base_url, headers), createHttpClient(second.baseUrl, headers)];
  }, 120_000);
  afterAll(async () => {
    await second?.stop();
    await stack?.stop();
  }, 60_000);

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

  test('the hourly limit is exact: of 150 requests at both, 100 are served', async () => {
    const apiKey = await aKeyWithLimit(stack, 100);
    const bases = [stack.info().base_url, second.baseUrl];
    const answers = await Promise.all(
      Array.from({ length: 150 }, (_, i) =>
        createHttpClient(bases[i % 2] ?? '', { 'x-api-key': apiKey }).post('/tokens', {}),
      ),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(100);
    expect(statuses.filter((status) => status === 429)).toHaveLength(50);
  });

  test('50 posts with one key at both are one CFE', async () => {
    const before = await issued();
    const body = eTicket(today);

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
    const body = eTicket(today, 'SIM DELAY 20');
    // The answer waits for the verdict, long after the commit.
    const lost = clients[1]
      .post(PATH, body, { ...headers, prefer: 'wait=30' })
      .then(({ status }) => `answered ${status}`)
      .catch(() => 'lost');
    await until('the commit', 20, async () => (await issued()) === before + 1 || undefined);

    second.process.kill('SIGKILL');

    expect(await lost).toBe('lost');
    const again = await clients[0].post<CfeAnswer>(PATH, body, headers);
    expect([again.status, replayed(again)]).toEqual([201, 'true']);
    expect(again.data).toMatchObject({ cfe_status: 'PENDING' });
    expect(await issued()).toBe(before + 1);
    const { data } = await clients[0].get<{ items: CfeAnswer[] }>(`${PATH}?limit=1`);
    expect(data.items[0]?.cfe_id).toBe(again.data.cfe_id);
  });
});

/** A key of a new account that may make so many requests an hour. */
async function aKeyWithLimit(stack: TestStack, perHour: number): Promise<string> {
  const secrets = JSON.parse(readFileSync(join(stack.dataDir, 'secrets.json'), 'utf8')) as StackSecrets;
  const orm = await openOrm({ databaseUrl: stack.info().database_url, pool: 2 });
  try {
    const deps = { orm, clock: () => new Date(), outbox: idleOutbox };
    const { id } = await createAccount(deps, { name: 'L', email: 'l@example.com', isDeveloper: false });
    await setRateLimit(deps, { accountId: id, environment: 'production', perHour });
    const apiKeys = createApiKeys(Buffer.from(secrets.pepper, 'base64'));
    return (await createApiKey({ ...deps, apiKeys }, { accountId: id, environment: 'production' })).text;
  } finally {
    await orm.close(true);
  }
}
