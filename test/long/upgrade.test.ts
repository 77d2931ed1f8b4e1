import { expect, test } from '@jest/globals';
import { DeliveryAttempt } from '../../src/db/entities/DeliveryAttempt.ts';
import type { EnterpriseView } from '../../src/demo/customer.ts';
import { DEMO_RUT } from '../../src/demo/onboarding.ts';
import { CFES_BEFORE, startOnVersionBefore } from '../support/stackOfTheVersionBefore.ts';
import { issue, verdictOf } from '../support/stacks.ts';
import { until } from '../support/until.ts';
import { useStack } from '../support/useStack.ts';

/** Waits for its start date, in 2040. */
const WAITING_RUT = '214844360018';
const { accepted, rejected, awaiting, note, stuck, down, parked0, parked1, parked2 } = CFES_BEFORE;

const stack = useStack(startOnVersionBefore);
const workflowIdOf = async (cfeId: string): Promise<string> =>
  (await stack.cli.json<{ workflow_id: string }>('cfe', 'show', DEMO_RUT, cfeId)).workflow_id;

test('CFEs that were under way get their verdict, each sent once', async () => {
  for (const cfeId of [awaiting, down, parked0, parked1, parked2, note]) {
    expect(await verdictOf(stack.customer, DEMO_RUT, cfeId)).toMatchObject({ cfe_status: 'ACCEPTED' });
  }
  expect(await verdictOf(stack.customer, DEMO_RUT, accepted)).toMatchObject({ cfe_status: 'ACCEPTED' });
  expect(await verdictOf(stack.customer, DEMO_RUT, rejected)).toMatchObject({
    cfe_status: 'REJECTED',
    rejection: [expect.objectContaining({ code: 'E05' })],
  });

  const received = await stack.ledger(DEMO_RUT);
  expect(received.map(({ times_received }) => times_received)).toEqual(received.map(() => 1));
});

test('one that waits for support goes on under the id that its run had', async () => {
  expect(await workflowIdOf(stuck)).toMatch(/^cfe:[0-9a-f-]{36}$/);

  await stack.cli.json('cfe', 'retry', DEMO_RUT, stuck, '--reason', 'the authority has mended it');

  expect(await verdictOf(stack.customer, DEMO_RUT, stuck)).toMatchObject({ cfe_status: 'ACCEPTED' });
});

test('a new CFE takes the next number and a readable workflow id', async () => {
  const cfe = await issue(stack.customer, DEMO_RUT);

  expect(cfe).toMatchObject({ cfe_id: '101-9', numero: 9 });
  expect(await workflowIdOf(cfe.cfe_id)).toMatch(new RegExp(`^cfe:${DEMO_RUT}:101-9:[0-9a-f]{8}$`));
  expect(await verdictOf(stack.customer, DEMO_RUT, cfe.cfe_id)).toMatchObject({ cfe_status: 'ACCEPTED' });
});

interface DeliveryRow {
  delivery_id: string;
  attempts: unknown[];
}

test('a delivery that waits is tried again by the run that it had', async () => {
  const [delivery] = await stack.cli.json<DeliveryRow[]>('delivery', 'list', '--event', 'efactura.login');

  await until('the second attempt', 60, async () => {
    const { attempts } = await stack.cli.json<DeliveryRow>('delivery', 'show', delivery?.delivery_id ?? '');
    return attempts.length >= 2;
  });
});

test('one that waits and is asked for again is sent at once, by the run that it had', async () => {
  const [delivery] = await stack.cli.json<DeliveryRow[]>('delivery', 'list', '--event', 'enterprise.updated');
  const id = delivery?.delivery_id ?? '';
  const attemptsOf = async () => (await stack.cli.json<DeliveryRow>('delivery', 'show', id)).attempts.length;
  // The first retry was due while nothing ran; the second is five minutes after it.
  const made = await until('the first retry', 60, async () => {
    const attempts = await attemptsOf();
    return attempts >= 2 ? attempts : undefined;
  });

  await stack.cli.json('delivery', 'redeliver', id);

  await until('the next attempt', 60, async () => (await attemptsOf()) > made || undefined);
  const executions = await stack.orm.em.fork().find(DeliveryAttempt, { deliveryId: id });
  const runs = executions.map(({ execution }) => execution.split('/')[0]);
  expect(new Set(runs).size).toBe(1);
});

test('what was sealed opens: the stored login is checked again', async () => {
  const path = `enterprises/${DEMO_RUT}/validate-efactura`;
  expect(await stack.customer.send('POST', path, {})).toMatchObject({ status: 'VALIDATING' });

  await until('the result', 60, async () => {
    const { efactura_metadata } = await stack.customer.get<EnterpriseView>(`enterprises/${DEMO_RUT}`);
    return efactura_metadata.status === 'VALID';
  });
});

test('rotation seals it anew under the key pair that this version has; it opens, and the old key is needed no more', async () => {
  interface KeyRow {
    key_id: string;
    seals: boolean;
    total: number;
  }
  const status = () => stack.cli.json<KeyRow[]>('key-encryption', 'status');
  expect(await status()).toMatchObject([{ seals: true }, { key_id: 'local', seals: false }]);
  const [pair, symmetric] = await status();
  expect(symmetric?.total).toBeGreaterThan(0);

  expect(await stack.cli.json('key-encryption', 'rotate')).toEqual({
    key_id: pair?.key_id,
    resealed: symmetric?.total,
  });

  expect(await status()).toMatchObject([{ seals: true }, { key_id: 'local', total: 0 }]);
  const cfe = await issue(stack.customer, DEMO_RUT);
  expect(await verdictOf(stack.customer, DEMO_RUT, cfe.cfe_id)).toMatchObject({ cfe_status: 'ACCEPTED' });
});

test('an enterprise that waits for its date becomes READY once the date is changed', async () => {
  await stack.customer.send('PUT', `enterprises/${WAITING_RUT}`, {
    scheduled_ready_date: '2026-01-01T00:00:00',
  });

  await until('READY', 60, async () => {
    const { status } = await stack.customer.get<EnterpriseView>(`enterprises/${WAITING_RUT}`);
    return status === 'READY';
  });
});
