import { expect, test } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import got from 'got';
import { DEMO_RUT as RUT } from '../../local/demo/onboarding.ts';
import { issue, startTestStack, verdictOf } from '../support/stacks.ts';
import { useStack } from '../support/useStack.ts';

const stack = useStack(startTestStack, async ({ onboard }) => {
  await onboard([101]);
});

test('accepted in the portal: support has it asked about at once, the others follow with the daily look', async () => {
  const rejected = async () => {
    const { cfe_id } = await issue(stack.customer, RUT, 'SIM REJECT E06');
    const { cfe_status, serie, numero } = await verdictOf(stack.customer, RUT, cfe_id);
    expect(cfe_status).toBe('REJECTED');
    return { cfe_id, serie, numero };
  };
  const accept = ({ serie, numero }: { serie: string; numero: number }) =>
    got.post(`${stack.info().simulator_url}/portal/regularizations`, {
      json: { rut: RUT, cfe_type_code: '101', serie, numero },
    });
  const support = (cfeId: string, action: string) => [
    'cfe',
    'retry',
    RUT,
    cfeId,
    '--action',
    action,
    '--reason',
    'the company had it accepted',
  ];
  const [atOnce, daily, lost] = [await rejected(), await rejected(), await rejected()];
  const numbers = async () =>
    (await stack.cli.json<Record<string, number>[]>('numbers', 'reconcile', '--rut', RUT))[0];
  expect(await numbers()).toMatchObject({ given: 3, issued: 0, annulled: 0, waiting: 3 });

  expect(await stack.cli.refusal(...support(atOnce.cfe_id, 'settle'))).toMatchObject({
    message: 'DGI has not accepted it; DGI is asked automatically once a day.',
  });
  await accept(atOnce);
  await accept(daily);
  expect(await stack.cli.json(...support(atOnce.cfe_id, 'settle'))).toMatchObject({
    outcome: 'settled',
    cfe_status: 'ACCEPTED',
    rejection: null,
  });
  expect(await stack.cli.json(...support(lost.cfe_id, 'abandon'))).toMatchObject({
    outcome: 'abandoned',
    cfe_status: 'REJECTED',
  });

  const connection = await Connection.connect({ address: stack.info().temporal_address });
  try {
    const { workflow } = new Client({ connection, namespace: stack.info().temporal_namespace });
    // As the schedule begins it.
    const counts = await workflow.execute('askRejected', {
      workflowId: 'rejected-now',
      taskQueue: 'cfe',
      args: [],
    });
    expect(counts).toEqual({ accepted: 1, annulled: 0, undecided: 0, unanswered: 0 });
  } finally {
    await connection.close();
  }

  expect((await verdictOf(stack.customer, RUT, daily.cfe_id)).cfe_status).toBe('ACCEPTED');
  expect(await stack.cli.json('annulment', 'list', '--rut', RUT)).toMatchObject([
    { cfe_type: 'ETICKET', serie: lost.serie, from: lost.numero, to: lost.numero, reason: 'rejected' },
  ]);
  expect(await numbers()).toMatchObject({ given: 3, issued: 2, annulled: 1, waiting: 0 });
});
