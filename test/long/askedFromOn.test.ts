import { afterAll, describe, expect, test } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import got from 'got';
import { DEMO_RUT as RUT } from '../../local/demo/onboarding.ts';
import { listAttemptsOfCfe } from '../../src/db/authority/attempts.ts';
import { Cfe } from '../../src/db/entities/receipts.ts';
import { NIGHTLY } from '../support/nightly.ts';
import { issue, startTestStack } from '../support/stacks.ts';
import { until } from '../support/until.ts';
import { useStack } from '../support/useStack.ts';

describe('the authority says from when on it may be asked (Fechahora)', () => {
  let connection: Connection;
  const stack = useStack(startTestStack, async ({ onboard, info }) => {
    await onboard([101]);
    connection = await Connection.connect({ address: info().temporal_address });
  });
  afterAll(() => connection?.close());

  test.each(NIGHTLY ? [19, 300] : [19])(
    '%d seconds are waited for in one piece, and then it is asked once',
    async (seconds) => {
      await got.put(`${stack.info().simulator_url}/portal/query-delay`, { json: { seconds } });
      const { cfe_id } = await issue(stack.customer, RUT);
      const em = stack.orm.em.fork();
      const row = await em.findOneOrFail(Cfe, { rut: RUT, sequence: Number(cfe_id.split('-')[1]) });
      let { workflowId } = row;
      await until('the verdict', seconds + 60, async () => {
        const now = await em.fork().findOneOrFail(Cfe, { id: row.id });
        ({ workflowId } = now);
        return now.status === 'ACCEPTED';
      });

      const asked = await listAttemptsOfCfe(em.fork(), row.id);
      expect(asked.map(({ operation, count }) => [operation, count])).toEqual([
        ['sendSobre', 1],
        ['askVerdict', 1],
      ]);
      // The moment is named in whole seconds, from when the sobre came in.
      const between = (asked[1]?.firstAt.getTime() ?? 0) - (asked[0]?.firstAt.getTime() ?? 0);
      expect(between).toBeGreaterThanOrEqual((seconds - 1) * 1_000);
      const client = new Client({ connection, namespace: stack.info().temporal_namespace });
      const run = client.workflow.getHandle(workflowId ?? '');
      await run.result();
      const { events } = await run.fetchHistory();
      const started = events?.filter((event) => event.activityTaskStartedEventAttributes) ?? [];
      expect(started.map((event) => event.activityTaskStartedEventAttributes?.attempt)).toEqual([2]);
    },
  );
});
