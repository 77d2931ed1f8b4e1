import { expect, test } from '@jest/globals';
import got from 'got';
import { enterpriseBody } from '../support/enterprises/enterprises.ts';
import { aRut } from '../support/receipts/papers.ts';
import { sharedStack } from '../support/stacks.ts';
import { until } from '../support/until.ts';
import { useStack } from '../support/useStack.ts';

interface ListedCae {
  series: string;
  last_number: number;
  warnings: { code: string }[];
}

const stack = useStack(sharedStack);
const portal = (path: string, json: object) =>
  got.post(`${stack.info().simulator_url}/portal/${path}`, { json, retry: { limit: 0 } }).json();

test('a company moves in with its old CAEs: those that leave a gap or begin too early are told of, once it has a certificate', async () => {
  const rut = aRut();
  await stack.customer.send('POST', 'enterprises', enterpriseBody(rut));
  for (const [serie, issued] of [
    ['A', [499]],
    ['B', []],
    ['C', [499, 500]],
  ] as const) {
    for (const numero of issued)
      await portal('foreign-cfes', { rut, cfe_type_code: '101', serie, numero, emission_date: '2026-11-20' });
    const { cae_b64 } = (await portal('caes', { rut, cfe_type_code: '101', series: serie })) as {
      cae_b64: string;
    };
    await stack.customer.send('POST', `enterprises/${rut}/caes`, { cae_b64, cae_start_number: 500 });
  }
  const caes = () => stack.customer.get<ListedCae[]>(`enterprises/${rut}/caes`);
  expect((await caes()).map(({ last_number, warnings }) => [last_number, warnings])).toEqual([
    [499, []],
    [499, []],
    [499, []],
  ]);

  await stack.customer.send(
    'POST',
    `enterprises/${rut}/certificate`,
    await portal('certificates', { rut, password: 'clave' }),
  );

  const codes = async () => (await caes()).map(({ warnings }) => warnings.map(({ code }) => code));
  await until('the warnings', 60, async () => (await codes()).flat().length === 2);
  expect(await codes()).toEqual([[], ['cae.number_before_unknown'], ['cae.first_number_known']]);
});
