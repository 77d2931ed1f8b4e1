import { afterAll, describe, expect, test } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import type { CfeView } from '../../local/demo/customer.ts';
import { DEMO_RUT as RUT } from '../../local/demo/onboarding.ts';
import { aCfeBody } from '../support/receipts/cfeBodies.ts';
import { issue as issueAt, startTestStack, verdictOf as verdictAt } from '../support/stacks.ts';
import { historyOf } from '../support/temporal/temporal.ts';
import { until } from '../support/until.ts';
import { useStack } from '../support/useStack.ts';

describe('receipts through the whole stack', () => {
  let connection: Connection;
  const stack = useStack(startTestStack, async ({ onboard, info }) => {
    await onboard([101, 102]);
    connection = await Connection.connect({ address: info().temporal_address });
  });
  afterAll(() => connection?.close());

  const issue = (name = 'Café'): Promise<CfeView> => issueAt(stack.customer, RUT, name);
  const verdictOf = (cfe: CfeView): Promise<CfeView> => verdictAt(stack.customer, RUT, cfe.cfe_id);
  const ledgerRow = async ({ numero }: CfeView) =>
    (await stack.ledger(RUT)).find((row) => row.cfe_type_code === '101' && row.numero === numero);

  test.each([
    ['Café', 'ACCEPTED', null, 1],
    ['SIM REJECT E05', 'REJECTED', 'E05', 1],
    ['SIM OBSERVE', 'OBSERVED', undefined, 1],
    ['SIM DELAY 4', 'ACCEPTED', null, 1],
    ['SIM FAULT 2', 'ACCEPTED', null, 1],
    ['SIM LOST', 'ACCEPTED', null, undefined],
  ])('%s ends %s', async (name, status, code, timesReceived) => {
    const issued = await issue(name);
    expect(issued.cfe_status).toBe('PENDING');

    const settled = await verdictOf(issued);

    expect(settled.cfe_status).toBe(status);
    if (code !== undefined) expect(settled.rejection?.[0]?.code ?? null).toBe(code);
    const row = await ledgerRow(issued);
    expect(row?.verdict).toBe({ ACCEPTED: 'AE', REJECTED: 'BE', OBSERVED: 'CE' }[status]);
    if (timesReceived !== undefined) expect(row?.times_received).toBe(timesReceived);
  });

  test('a sobre that is refused ends the CFE REJECTED with the authority’s own code', async () => {
    const settled = await verdictOf(await issue('SIM SOBRE S04'));

    expect(settled).toMatchObject({ cfe_status: 'REJECTED', rejection: [{ code: 'S04' }] });
  });

  const noteOn = (original: CfeView): Promise<CfeView> =>
    stack.customer.send<CfeView>(
      'POST',
      `enterprises/${RUT}/cfes`,
      aCfeBody({ type: 'ETICKET_NC', reference: original.cfe_id }),
    );
  const moment = async (type: string, { numero }: CfeView) =>
    (await stack.ledger(RUT)).find((row) => row.cfe_type_code === type && row.numero === numero)?.received_at;

  test('a note taken before its original has a verdict is sent after it, and ACCEPTED', async () => {
    const original = await issue('SIM DELAY 3');
    const note = await noteOn(original);
    expect(note.cfe_status).toBe('PENDING');

    expect((await verdictOf(note)).cfe_status).toBe('ACCEPTED');

    const settled = await verdictOf(original);
    expect(settled.cfe_status).toBe('ACCEPTED');
    const [first, second] = [await moment('101', original), await moment('102', note)];
    expect(Date.parse(second ?? '') - Date.parse(first ?? '')).toBeGreaterThanOrEqual(3_000);
  });

  test('a note whose original ends REJECTED ends REJECTED itself and never reaches the authority', async () => {
    const note = await noteOn(await issue('SIM REJECT E05'));

    const settled = await verdictOf(note);

    expect(settled).toMatchObject({ cfe_status: 'REJECTED', rejection: [{ code: 'reference.rejected' }] });
    expect(await moment('102', note)).toBeUndefined();
  });

  test('100 posts at once take 100 numbers without gap or repeat, and all are ACCEPTED', async () => {
    const before = (await issue()).numero;

    const issued = await Promise.all(Array.from({ length: 100 }, () => issue()));
    const settled = await Promise.all(issued.map(verdictOf));

    const numbers = issued.map(({ numero }) => numero).sort((a, b) => a - b);
    expect(numbers).toEqual(Array.from({ length: 100 }, (_, index) => before + 1 + index));
    expect(new Set(settled.map(({ cfe_status }) => cfe_status))).toEqual(new Set(['ACCEPTED']));
    const rows = (await stack.ledger(RUT)).filter(({ numero }) => numbers.includes(numero));
    expect(rows.filter(({ times_received }) => times_received !== 1)).toEqual([]);
    expect(rows).toHaveLength(100);
  });

  test('a worker killed between submit and verdict changes nothing: ACCEPTED, once at the authority', async () => {
    const issued = await issue('SIM DELAY 3');
    await until('RECEIVED, or later where the machine is slow', 20, async () => {
      const { items } = await stack.customer.get<{ items: CfeView[] }>(
        `enterprises/${RUT}/cfes/${issued.cfe_id}`,
      );
      return items[0]?.cfe_status !== 'PENDING';
    });
    process.kill(stack.info().pids.worker ?? 0, 'SIGKILL');

    const settled = await verdictOf(issued);

    expect(settled.cfe_status).toBe('ACCEPTED');
    expect(await ledgerRow(issued)).toMatchObject({ verdict: 'AE', times_received: 1 });
  });

  test('a sobre whose number another system of the company has used goes out in a new one', async () => {
    await verdictOf(await issue());
    const { orm } = stack;
    // The authority has seen the next two numbers already, and we know nothing of them.
    const back = `update sobre_sequence set last = last - 2 where rut = ? returning last`;
    const [sequence] = await orm.em.fork().execute<{ last: string }[]>(back, [RUT]);
    await orm.em
      .fork()
      .execute('update sobre set idemisor = idemisor + 1000000 where rut = ? and idemisor > ?', [
        RUT,
        sequence?.last,
      ]);

    const issued = await issue();
    const settled = await verdictOf(issued);

    expect(settled.cfe_status).toBe('ACCEPTED');
    expect(await ledgerRow(issued)).toMatchObject({ verdict: 'AE', times_received: 1 });
    const sobres = await orm.em
      .fork()
      .execute(
        'select state from sobre join sobre_cfe on sobre_id = sobre.id join cfe on cfe.id = cfe_uuid where numero = ? and type = ? order by idemisor',
        [issued.numero, 'ETICKET'],
      );
    expect(sobres).toEqual([{ state: 'REFUSED' }, { state: 'REFUSED' }, { state: 'RECEIVED' }]);
  });

  test('the first "not yet" is waited out: a quick verdict costs the Temporal server no repeat', async () => {
    const client = new Client({ connection, namespace: stack.info().temporal_namespace });
    const attemptsOf = async (cfeId: string) => {
      const query = `EnterpriseRut = "${RUT}" AND CfeId = "${cfeId}" AND ExecutionStatus = "Completed"`;
      const attempts: (number | null | undefined)[] = [];
      await until('the ended run', 20, async () => {
        for await (const { workflowId } of client.workflow.list({ query })) {
          const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
          const started = (events ?? []).flatMap((event) => event.activityTaskStartedEventAttributes ?? []);
          attempts.push(...started.map(({ attempt }) => attempt));
        }
        return attempts.length > 0;
      });
      return attempts.join();
    };
    // On a machine that is slow for a while one may run out of time and be tried again; each of many does not.
    await until('a receipt without a repeat', 20, async () => {
      const issued = await issue();
      await verdictOf(issued);
      return (await attemptsOf(issued.cfe_id)) === '1';
    });
  });

  test('histories hold ids and statuses, no paper, key, name or amount, in at most 13 events where no person is asked', async () => {
    const client = new Client({ connection, namespace: stack.info().temporal_namespace });
    const seen = new Set<string>();
    for await (const { workflowId, searchAttributes } of client.workflow.list()) {
      const { events, text } = await historyOf(client.workflow.getHandle(workflowId));
      expect(text).not.toMatch(/<CFE|<\?xml|PRIVATE KEY|MII[A-Za-z0-9+/]{20}/);
      for (const secret of [
        'demo-portal-login',
        'demo-certificate',
        'Almacén',
        'Rincón',
        'Café',
        'SIM DELAY',
        '122.00',
      ]) {
        expect(text).not.toContain(secret);
      }
      if (workflowId.startsWith('cfe:')) expect(events).toBeLessThanOrEqual(13);
      if (workflowId.startsWith('cfe:'))
        for (const id of searchAttributes['CfeId'] ?? [])
          seen.add([searchAttributes['EnterpriseRut'], id].map(String).join(' '));
    }
    // CFEs, of which many shared a run.
    expect(seen.size).toBeGreaterThan(100);
  });

  test('operators find a CFE by its search attributes', async () => {
    const client = new Client({ connection, namespace: stack.info().temporal_namespace });
    const query = `EnterpriseRut = '${RUT}' AND CfeId = '101-2' AND Environment = 'production'`;
    const found = await until('the run', 20, async () => {
      for await (const run of client.workflow.list({ query })) return run;
      return undefined;
    });
    expect(found.searchAttributes).toMatchObject({ CfeStatus: ['REJECTED'], CfeType: ['ETICKET'] });
    const run = client.workflow.getHandle(found.workflowId);
    const { currentDetails } = await run.query<{ currentDetails?: string }>('__temporal_workflow_metadata');
    expect(currentDetails).toBe('Ended: REJECTED (E05).');
  });
});
