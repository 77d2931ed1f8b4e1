import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import got, { type Got } from 'got';
import { openOrm } from '../../src/db/orm.ts';
import type { CfeView } from '../../src/demo/customer.ts';
import { montevideoDate } from '../../src/domain/montevideo.ts';
import { aRut } from '../support/papers.ts';
import { eTicket, startTestStack, type TestStack } from '../support/runningStack.ts';
import { until } from '../support/until.ts';

describe('the sandbox', () => {
  let stack: TestStack;
  let sandbox: Got;
  const rut = aRut();
  const today = montevideoDate(new Date());

  beforeAll(async () => {
    stack = await startTestStack();
    await stack.customer.send('POST', 'enterprises', {
      rut,
      legal_name: 'Empresa SA',
      department_name: 'Montevideo',
      locality_name: 'Montevideo',
      street_name: 'Calle 1',
      branch: 1,
    });
    const { base_url, test_api_key } = stack.info();
    const anonymous = got.extend({
      prefixUrl: base_url,
      retry: { limit: 0 },
      throwHttpErrors: false,
      headers: { 'x-api-key': test_api_key, 'x-sandbox-mode': 'true' },
    });
    const { data } = await anonymous.post('tokens', { json: {} }).json<{ data: { access_token: string } }>();
    sandbox = anonymous.extend({ headers: { authorization: `Bearer ${data.access_token}` } });
  }, 120_000);
  afterAll(() => stack?.stop(), 60_000);

  test('an enterprise that is not READY issues there at once, without certificate or CAE of its own', async () => {
    const { statusCode, body } = await sandbox.post(`enterprises/${rut}/cfes`, { json: eTicket(today) });
    expect(statusCode).toBe(201);
    const { cfe_id, numero } = (JSON.parse(body) as { data: CfeView }).data;

    const status = await until('the verdict', 30, async () => {
      const orm = await openOrm({ databaseUrl: stack.info().database_url, pool: 1 });
      const [row] = await orm.em
        .fork()
        .execute<{ status: string }[]>('select status from cfe where rut = ? and settled_at is not null', [
          rut,
        ]);
      await orm.close(true);
      return row?.status;
    });

    expect(status).toBe('ACCEPTED');
    const inSandbox = await got
      .get(`${stack.info().simulator_url}/portal/ledger`, { searchParams: { rut, environment: 'sandbox' } })
      .json<{ items: { numero: number; verdict: string }[] }>();
    expect(inSandbox.items).toMatchObject([{ numero, verdict: 'AE' }]);
    expect(await stack.ledger(rut)).toEqual([]);

    // Production knows nothing of it.
    expect(await stack.customer.get(`enterprises/${rut}/cfes`)).toEqual({ items: [], total: 0 });
    expect(await stack.customer.find(`enterprises/${rut}/cfes/${cfe_id}`)).toBeUndefined();
    const enterprise = await stack.customer.get<{ status: string; caes: unknown[] }>(`enterprises/${rut}`);
    expect(enterprise).toMatchObject({ status: 'PENDING', caes: [], certificate: { status: 'NONE' } });
  });

  test('twenty at once share one certificate and get twenty numbers', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () =>
        sandbox.post(`enterprises/${rut}/cfes`, { json: eTicket(today) }).json<{ data: CfeView }>(),
      ),
    );
    expect(new Set(answers.map(({ data }) => `${data.serie}${data.numero}`)).size).toBe(20);
  });

  test('a sandbox request is refused everywhere else', async () => {
    const answer = await sandbox.get(`enterprises/${rut}`);
    expect(answer.statusCode).toBe(400);
    expect(JSON.parse(answer.body)).toMatchObject({ error: { code: 'INVALID_INPUT' } });
  });
});
