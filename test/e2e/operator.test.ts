import { statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import got from 'got';
import { logIn } from '../../src/demo/customer.ts';
import { type Cli, cliOn } from '../support/cli.ts';
import { startTestStack, type TestStack } from '../support/runningStack.ts';

describe('an operator at the running local stack', () => {
  let stack: TestStack;
  let cli: Cli;

  beforeAll(async () => {
    stack = await startTestStack();
    cli = cliOn('', { DATABASE_URL: undefined, CFE_PEPPER: undefined, CFE_DATA_DIR: stack.dataDir });
  }, 120_000);
  afterAll(() => stack?.stop(), 60_000);

  test('finds its database by itself, and there the local developer', async () => {
    expect(await cli.json('account', 'list')).toMatchObject([
      { name: 'Local developer', is_developer: true },
    ]);
  });

  test('makes an account and a key that open its API', async () => {
    const { account_id } = await cli.json<{ account_id: string }>(
      'account',
      'create',
      '--name',
      'Otra',
      '--email',
      'otra@example.com',
    );
    const { api_key } = await cli.json<{ api_key: string }>(
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
    expect(statSync(join(stack.dataDir, 'service-certificate.p12')).mode & 0o777).toBe(0o600);
  });
});
