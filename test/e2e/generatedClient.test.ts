import { describe, expect, test } from '@jest/globals';
import { issueReceipt } from '../client/issueReceipt.ts';
import { aRut, day } from '../support/papers.ts';
import { sharedStack } from '../support/stacks.ts';
import { useStack } from '../support/useStack.ts';

const RUT = aRut();
const stack = useStack(sharedStack, ({ onboard }) => onboard([101], RUT));

describe('a client generated from openapi.json', () => {
  test('issues a receipt, and once only when it asks twice with one Idempotency-Key', async () => {
    const { base_url: baseUrl, live_api_key: apiKey } = stack.info();

    const cfe = await issueReceipt({ baseUrl, apiKey }, RUT, day(0));
    const again = await issueReceipt({ baseUrl, apiKey }, RUT, day(0));

    expect(cfe).toMatchObject({ cfe_type: 'ETICKET', cfe_status: 'ACCEPTED', total_amount: 122, numero: 1 });
    expect(again).toEqual(cfe);
  });
});
