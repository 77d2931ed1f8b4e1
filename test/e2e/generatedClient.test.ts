import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO_RUT, onboard } from '../../src/demo/onboarding.ts';
import { issueReceipt } from '../client/issueReceipt.ts';
import { day } from '../support/papers.ts';
import { startTestStack, type TestStack } from '../support/runningStack.ts';

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack();
  await onboard(stack.customer, stack.info().simulator_url, [101], () => {});
}, 180_000);
afterAll(() => stack?.stop());

describe('a client generated from openapi.json', () => {
  test('issues a receipt, and once only when it asks twice with one Idempotency-Key', async () => {
    const { base_url: baseUrl, live_api_key: apiKey } = stack.info();

    const cfe = await issueReceipt({ baseUrl, apiKey }, DEMO_RUT, day(0));
    const again = await issueReceipt({ baseUrl, apiKey }, DEMO_RUT, day(0));

    expect(cfe).toMatchObject({ cfe_type: 'ETICKET', cfe_status: 'ACCEPTED', total_amount: 122, numero: 1 });
    expect(again).toEqual(cfe);
  });
});
