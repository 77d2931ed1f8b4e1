import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import got from 'got';
import { logIn } from '../../local/demo/customer.ts';
import { sharedStack } from '../support/stacks.ts';
import { useStack } from '../support/useStack.ts';

describe('an operator at the running local stack', () => {
  const stack = useStack(sharedStack);

  test('finds its database by itself, and there the local developer', async () => {
    expect(await stack.cli.json<object[]>('account', 'list')).toContainEqual(
      expect.objectContaining({ name: 'Local developer', is_developer: true }),
    );
  });

  test('makes an account and a key that open its API', async () => {
    const { account_id } = await stack.cli.json<{ account_id: string }>(
      'account',
      'create',
      '--name',
      'Otra',
      '--email',
      'otra@example.com',
    );
    const { api_key } = await stack.cli.json<{ api_key: string }>(
      'key',
      'create',
      account_id,
      '--environment',
      'production',
    );

    await expect(logIn(stack.info().base_url, api_key)).resolves.toBeDefined();
  });

  test('and customers look up RUTs with the certificate that the portal gave it', async () => {
    const { simulator_url: simulator } = stack.info();
    const record = { legal_name: 'PANADERÍA & CÍA S.R.L.', activity_status: 'AA' };
    await got.put(`${simulator}/portal/registry/219999830019`, { json: record });

    for (const path of ['enterprises/219999830019/erut', 'erut/219999830019']) {
      expect(await stack.customer.get(path)).toMatchObject({ rut: '219999830019', ...record });
    }
    expect(await stack.customer.find('erut/214844360018')).toBeUndefined();
    expect(await stack.cli.json('enterprise', 'look-up', '219999830019')).toMatchObject(record);
    expect(statSync(join(stack.dataDir, 'service-certificate.p12')).mode & 0o777).toBe(0o600);
  });
});
