import { expect, test } from '@jest/globals';
import { aRut } from '../support/receipts/papers.ts';
import { issue, sharedStack, verdictOf } from '../support/stacks.ts';
import { useStack } from '../support/useStack.ts';

const RUT = aRut();
const stack = useStack(sharedStack, ({ onboard }) => onboard([101], RUT));

test('while an enterprise is suspended it cannot issue, and what was taken before is still sent', async () => {
  const taken = await issue(stack.customer, RUT, 'SIM DELAY 2');
  await stack.cli.json('enterprise', 'suspend', RUT, '--reason', 'unpaid');

  await expect(issue(stack.customer, RUT)).rejects.toThrow('enterprise.suspended');
  expect((await verdictOf(stack.customer, RUT, taken.cfe_id)).cfe_status).toBe('ACCEPTED');

  await stack.cli.json('enterprise', 'resume', RUT);
  const after = await issue(stack.customer, RUT);
  expect((await verdictOf(stack.customer, RUT, after.cfe_id)).cfe_status).toBe('ACCEPTED');
});
