import { describe, expect, test } from '@jest/globals';
import got, { type Got } from 'got';
import type { CfeView } from '../../local/demo/customer.ts';
import { enterpriseBody } from '../support/enterprises/enterprises.ts';
import { aCfeBody } from '../support/receipts/cfeBodies.ts';
import { aRut } from '../support/receipts/papers.ts';
import { ledgerOf, sharedStack } from '../support/stacks.ts';
import { until } from '../support/until.ts';
import { useStack } from '../support/useStack.ts';

describe('the sandbox', () => {
  let sandbox: Got;
  const rut = aRut();
  const stack = useStack(sharedStack, async ({ customer, info }) => {
    await customer.send('POST', 'enterprises', enterpriseBody(rut));
    const { base_url, test_api_key } = info();
    const anonymous = got.extend({
      prefixUrl: base_url,
      retry: { limit: 0 },
      throwHttpErrors: false,
      headers: { 'x-api-key': test_api_key, 'x-sandbox-mode': 'true' },
    });
    const { data } = await anonymous.post('tokens', { json: {} }).json<{ data: { access_token: string } }>();
    sandbox = anonymous.extend({ headers: { authorization: `Bearer ${data.access_token}` } });
  });

  test('an enterprise that is not READY issues there at once, without certificate or CAE of its own', async () => {
    const { statusCode, body } = await sandbox.post(`enterprises/${rut}/cfes`, { json: aCfeBody() });
    expect(statusCode).toBe(201);
    const { cfe_id, numero } = (JSON.parse(body) as { data: CfeView }).data;

    const status = await until('the verdict', 30, async () => {
      const [row] = await stack.orm.em
        .fork()
        .execute<{ status: string }[]>('select status from cfe where rut = ? and settled_at is not null', [
          rut,
        ]);
      return row?.status;
    });

    expect(status).toBe('ACCEPTED');
    const inSandbox = await ledgerOf(stack.info().simulator_url, { rut, environment: 'sandbox' });
    expect(inSandbox).toMatchObject([{ numero, verdict: 'AE' }]);
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
        sandbox.post(`enterprises/${rut}/cfes`, { json: aCfeBody() }).json<{ data: CfeView }>(),
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
