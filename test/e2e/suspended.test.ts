import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { CfeView } from '../../src/demo/customer.ts';
import { onboard, DEMO_RUT as RUT } from '../../src/demo/onboarding.ts';
import { montevideoDate } from '../../src/domain/montevideo.ts';
import { eTicket, startTestStack, type TestStack, verdictOf, withoutOwn } from '../support/runningStack.ts';

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack();
  await onboard(stack.customer, stack.info().simulator_url, [101], () => {});
}, 120_000);
afterAll(() => stack?.stop(), 60_000);

const operator = (...words: string[]): string =>
  execFileSync(process.execPath, ['src/main/cli.ts', ...words], {
    cwd: join(import.meta.dirname, '../..'),
    encoding: 'utf8',
    env: { ...withoutOwn(process.env), CFE_DATA_DIR: stack.dataDir },
  });

test('while an enterprise is suspended it cannot issue, and what was taken before is still sent', async () => {
  const issue = (name?: string) =>
    stack.customer.send<CfeView>(
      'POST',
      `enterprises/${RUT}/cfes`,
      eTicket(montevideoDate(new Date()), name),
    );
  const taken = await issue('SIM DELAY 2');
  operator('enterprise', 'suspend', RUT, '--reason', 'unpaid');

  await expect(issue()).rejects.toThrow('enterprise.suspended');
  expect((await verdictOf(stack.customer, RUT, taken.cfe_id)).cfe_status).toBe('ACCEPTED');

  operator('enterprise', 'resume', RUT);
  const after = await issue();
  expect((await verdictOf(stack.customer, RUT, after.cfe_id)).cfe_status).toBe('ACCEPTED');
});
