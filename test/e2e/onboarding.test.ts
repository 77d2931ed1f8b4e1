import { describe, expect, test } from '@jest/globals';
import got from 'got';
import type { EnterpriseView } from '../../local/demo/customer.ts';
import { montevideoTimestamp } from '../../src/domain/values/montevideo.ts';
import { enterpriseBody } from '../support/enterprises/enterprises.ts';
import { aRut } from '../support/receipts/papers.ts';
import { issue, sharedStack, verdictOf } from '../support/stacks.ts';
import { until } from '../support/until.ts';
import { useStack } from '../support/useStack.ts';

const PASSWORD = 'p12-password';
const LOGIN = { username: 'user', password: 'portal-password' };

describe('an enterprise becomes READY with the last of the five facts', () => {
  const stack = useStack(sharedStack);

  const portal = () => got.extend({ prefixUrl: `${stack.info().simulator_url}/portal`, retry: { limit: 0 } });
  const path = (rut: string) => `enterprises/${rut}`;
  const statusOf = async (rut: string) => (await stack.customer.get<EnterpriseView>(path(rut))).status;
  const ready = (rut: string) => until('READY', 30, async () => (await statusOf(rut)) === 'READY');

  /** How each fact is made true, and what a refusal to issue says while it lacks. */
  const FACTS = {
    'the PROD permission': {
      lacking: 'the permission PROD',
      async make(rut: string) {
        await portal().put(`credentials/${rut}`, { json: { ...LOGIN, permissions: ['HOMO', 'PROD'] } });
        await stack.customer.send('POST', `${path(rut)}/validate-efactura`, LOGIN);
        await until('the result', 20, async () => {
          const { status } = await stack.customer.get<{ status: string }>(`${path(rut)}/efactura-status`);
          return status === 'VALID';
        });
      },
    },
    'a valid certificate': {
      lacking: 'a valid certificate',
      async make(rut: string) {
        const body = await portal()
          .post('certificates', { json: { rut, password: PASSWORD } })
          .json();
        await stack.customer.send('POST', `${path(rut)}/certificate`, body);
      },
    },
    'a plan': {
      lacking: 'a plan',
      make: (rut: string) =>
        stack.customer.send('PUT', path(rut), { plan_id: 'FREE', frequency_id: 'MONTHLY' }),
    },
    'an OK CAE': {
      lacking: 'a CAE with status OK',
      async make(rut: string) {
        const cae = await portal()
          .post('caes', { json: { rut, cfe_type_code: '101' } })
          .json<{ cae_b64: string; number_start: number }>();
        await stack.customer.send('POST', `${path(rut)}/caes`, {
          cae_b64: cae.cae_b64,
          cae_start_number: cae.number_start,
        });
      },
    },
    'the date, set to one that is past': {
      lacking: 'a scheduled_ready_date in the past',
      make: (rut: string) =>
        stack.customer.send('PUT', path(rut), { scheduled_ready_date: '2026-01-01T00:00:00' }),
    },
  };
  type FactName = keyof typeof FACTS;
  const names = Object.keys(FACTS) as FactName[];

  async function enterpriseWithAllBut(rut: string, last: FactName): Promise<void> {
    await stack.customer.send('POST', 'enterprises', enterpriseBody(rut));
    for (const name of names.filter((one) => one !== last)) await FACTS[name].make(rut);
  }

  test.each(names)('%s comes last', async (last) => {
    const rut = aRut();
    await enterpriseWithAllBut(rut, last);
    expect(await statusOf(rut)).toBe('PENDING');
    await expect(issue(stack.customer, rut)).rejects.toThrow(FACTS[last].lacking);

    await FACTS[last].make(rut);
    await ready(rut);

    const { cfe_id } = await issue(stack.customer, rut);
    expect((await verdictOf(stack.customer, rut, cfe_id)).cfe_status).toBe('ACCEPTED');
  });

  test('the date comes by itself, while nobody calls', async () => {
    const rut = aRut();
    await enterpriseWithAllBut(rut, 'the date, set to one that is past');
    const soon = montevideoTimestamp(new Date(Date.now() + 3_000)).slice(0, 19);
    await stack.customer.send('PUT', path(rut), { scheduled_ready_date: soon });
    expect(await statusOf(rut)).toBe('PENDING');

    await ready(rut);

    expect(montevideoTimestamp(new Date()).slice(0, 19) >= soon).toBe(true);
  });
});
