import { describe, expect, test } from '@jest/globals';
import got, { type Got } from 'got';
import { enterpriseBody } from '../support/enterprises/enterprises.ts';
import { aRut } from '../support/receipts/papers.ts';
import { ledgerOf, sharedStack } from '../support/stacks.ts';
import { until } from '../support/until.ts';
import { useStack } from '../support/useStack.ts';

interface RunView {
  homologation_id: string;
  status: string;
  day: string;
  types: { cfe_type: string; wanted: number; received: number; rejected: number; pending: number }[];
  report: { status: string | null; sequence: number | null };
  checklist: { code: string; text: string; done: boolean }[];
  failure: { code: string; message: string } | null;
}

const SIX = ['ETICKET', 'ETICKET_NC', 'ETICKET_ND', 'EFACTURA', 'EFACTURA_NC', 'EFACTURA_ND'];

describe('a test run', () => {
  let api: Got;
  const stack = useStack(sharedStack, async ({ info }) => {
    const { base_url, live_api_key } = info();
    const anonymous = got.extend({
      prefixUrl: base_url,
      retry: { limit: 0 },
      throwHttpErrors: false,
      headers: { 'x-api-key': live_api_key },
    });
    const { data } = await anonymous.post('tokens', { json: {} }).json<{ data: { access_token: string } }>();
    api = anonymous.extend({ headers: { authorization: `Bearer ${data.access_token}` } });
  });

  const call = async (method: 'GET' | 'POST' | 'DELETE', rut: string, json?: object) => {
    const sent = json ? { json } : {};
    const { statusCode, body } = await api(`enterprises/${rut}/homologation`, { method, ...sent });
    return { statusCode, ...(JSON.parse(body) as { data: RunView; error?: { code: string } }) };
  };
  const anEnterprise = async (): Promise<string> => {
    const rut = aRut();
    await stack.customer.send('POST', 'enterprises', enterpriseBody(rut));
    return rut;
  };
  const ended = (rut: string, seconds = 170) =>
    until('the end of the run', seconds, async () => {
      const { data } = await call('GET', rut);
      return ['RUNNING', 'REPORTING'].includes(data.status) ? undefined : data;
    });
  const sent = (rut: string) => ledgerOf(stack.info().simulator_url, { rut, environment: 'sandbox' });

  test('52 of each of six types are received, the report follows, and one click is left', async () => {
    const rut = await anEnterprise();
    expect(await call('GET', rut)).toMatchObject({ statusCode: 404 });

    const { statusCode, data } = await call('POST', rut, { set: 'TESTING' });
    expect(statusCode).toBe(202);
    expect(data).toMatchObject({ status: 'RUNNING', report: { status: null, sequence: null } });
    // While it runs there is no other.
    const again = await call('POST', rut, { set: 'SIMULATION' });
    expect(again).toMatchObject({ statusCode: 202, data: { homologation_id: data.homologation_id } });

    const run = await ended(rut);

    expect(run).toMatchObject({ status: 'READY_TO_PROCESS', failure: null, report: { sequence: 1 } });
    expect(run.types).toEqual(
      SIX.map((cfe_type) => ({ cfe_type, wanted: 52, received: 52, rejected: 0, pending: 0 })),
    );
    expect(run.checklist.map(({ code, done }) => [code, done])).toEqual([
      ['receipts', true],
      ['report', true],
      ['process', run.report.status === 'CONSISTENT'],
      ['user', false],
      ['application', false],
    ]);
    const ledger = await sent(rut);
    expect(ledger).toHaveLength(312);
    expect(new Set(ledger.map(({ verdict }) => verdict))).toEqual(new Set(['AE']));
    expect(
      new Set(ledger.map(({ cfe_type_code, serie, numero }) => `${cfe_type_code} ${serie}${numero}`)).size,
    ).toBe(312);
  });

  test('stopped and started again: no number is used twice, and none is left out', async () => {
    const rut = await anEnterprise();
    const wish = { set: 'TESTING', cfe_types: ['ETICKET', 'ETICKET_NC'], each: 50 };
    const first = (await call('POST', rut, wish)).data;
    await until('a first receipt', 30, async () => (await sent(rut)).length > 0 || undefined);

    const stopped = await call('DELETE', rut);
    expect(stopped).toMatchObject({ statusCode: 200, data: { status: 'STOPPED' } });
    expect((await call('DELETE', rut)).data.status).toBe('STOPPED');
    const second = (await call('POST', rut, wish)).data;
    expect(second.homologation_id).not.toBe(first.homologation_id);

    expect(await ended(rut)).toMatchObject({
      homologation_id: second.homologation_id,
      status: 'READY_TO_PROCESS',
      types: [{ received: 50 }, { received: 50 }],
    });
    const numbers = (await sent(rut))
      .filter(({ cfe_type_code }) => cfe_type_code === '101')
      .map(({ numero }) => numero);
    expect(numbers.length).toBeGreaterThan(50);
    const [least = 0] = numbers.toSorted((a, b) => a - b);
    expect(numbers.toSorted((a, b) => a - b)).toEqual(numbers.map((_, at) => least + at));
  });

  test('a simulation: one of each type, two emission dates, an annulled number, the report', async () => {
    const rut = await anEnterprise();
    await call('POST', rut, { set: 'SIMULATION' });

    const run = await ended(rut);

    expect(run).toMatchObject({ status: 'READY_TO_PROCESS', failure: null });
    expect(run.types).toHaveLength(9);
    expect(run.types.every(({ received }) => received === 1)).toBe(true);
    expect(run.checklist.map(({ code, done }) => [code, done])).toEqual([
      ['receipts', true],
      ['annulment', true],
      ['report', true],
      ['declaration', false],
    ]);
    const rows = await stack.orm.em.fork().execute<{ dates: number; annulled: number }[]>(
      `select count(distinct emission_date)::int as dates,
           (select count(*)::int from annulment where rut = ? and environment = 'sandbox') as annulled
         from cfe where rut = ?`,
      [rut, rut],
    );
    expect(rows).toEqual([{ dates: 2, annulled: 1 }]);
  });
});
