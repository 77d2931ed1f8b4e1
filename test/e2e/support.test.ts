import { userInfo } from 'node:os';
import { afterAll, describe, expect, test } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import got from 'got';
import { DEMO_RUT as RUT } from '../../local/demo/onboarding.ts';
import { Sobre } from '../../src/db/entities/authority.ts';
import { findCfe } from '../../src/db/receipts/cfes.ts';
import type { SupportAnswer } from '../../src/domain/operations/supportAction.ts';
import { parseCfeId } from '../../src/domain/receipts/cfeId.ts';
import { issue as issueAt, startTestStack, verdictOf } from '../support/stacks.ts';
import { until } from '../support/until.ts';
import { useStack } from '../support/useStack.ts';

interface Row {
  rut: string;
  cfe_id: string;
  cfe_status: string;
  needs_support: boolean;
  stuck_reason: string | null;
  workflow_id: string;
  action: string;
  outcome: string;
  message: string;
}

describe('support of CFEs that are stuck, on the whole stack', () => {
  let connection: Connection;
  let client: Client;
  const stack = useStack(startTestStack, async ({ onboard, info }) => {
    await onboard([101]);
    connection = await Connection.connect({ address: info().temporal_address });
    client = new Client({ connection, namespace: info().temporal_namespace });
  });
  afterAll(() => connection?.close());

  const issue = async (name?: string): Promise<string> => (await issueAt(stack.customer, RUT, name)).cfe_id;
  const listed = async (...filter: string[]): Promise<string[]> =>
    (await stack.cli.json<Row[]>('cfe', 'list', '--rut', RUT, ...filter))
      .map(({ cfe_id }) => cfe_id)
      .toSorted();
  const inTemporal = async (query: string): Promise<string[]> => {
    const ids: string[] = [];
    for await (const { searchAttributes } of client.workflow.list({ query })) {
      ids.push(...(searchAttributes['CfeId'] ?? []).map(String));
    }
    return ids.toSorted();
  };
  /** Both places where support looks agree that these wait, and no others. */
  const wait = (cfeIds: string[]): Promise<boolean> =>
    until(`${cfeIds.join()} to wait for support`, 60, async () => {
      const wanted = cfeIds.toSorted().join();
      // The command line last: it opens a database at each call.
      const agree =
        (await inTemporal('NeedsSupport = true')).join() === wanted &&
        (await listed('--needs-support')).join() === wanted;
      return agree;
    });
  const retry = (...words: string[]) => stack.cli.json<Row>('cfe', 'retry', ...words);
  const auditOf = async (cfeId: string) => {
    const parts = parseCfeId(cfeId);
    const cfe =
      parts && (await findCfe(stack.orm.em.fork(), { rut: RUT, environment: 'production', ...parts }));
    const rows = await stack.cli.json<
      { actor: string; action: string; subject: string; reason: string; outcome: string | null }[]
    >('audit', 'list', '--rut', RUT);
    // Who asked is there once more, without an outcome, from before.
    return rows
      .filter(({ outcome }) => outcome !== null)
      .filter(({ subject }) => subject === cfe?.id)
      .map(({ actor, action, reason, outcome }) => ({ actor, action, reason, outcome }));
  };
  const me = `cli:${userInfo().username}`;

  /** As if the key-encryption key of all certificates were taken out of the configuration. */
  async function loseKeys(): Promise<void> {
    await stack.orm.em
      .fork()
      .execute(
        `update certificate set sealed_key = regexp_replace(sealed_key, '^(v[12])\\.[^.]+', '\\1.lost')`,
      );
  }

  async function uploadCertificate(): Promise<void> {
    const certificate = await got
      .post(`${stack.info().simulator_url}/portal/certificates`, { json: { rut: RUT, password: 'another' } })
      .json();
    await stack.customer.send('POST', `enterprises/${RUT}/certificate`, certificate);
  }

  test('keys that are lost: one is abandoned, the others go on in bulk once a certificate is uploaded', async () => {
    await loseKeys();
    const [given, ...others] = await Promise.all([issue(), issue(), issue(), issue()]);
    const ids = [given, ...others];
    await wait(ids);
    expect(await listed('--stuck-reason', 'signing')).toEqual(ids.toSorted());
    expect(await listed('--stuck-reason', 'undecided')).toEqual([]);
    expect(await inTemporal("StuckReason = 'signing'")).toEqual(ids.toSorted());

    expect(
      await stack.cli.refusal('cfe', 'retry', RUT, given, '--action', 'settle', '--reason', 'look'),
    ).toEqual({
      code: 'INVALID_INPUT',
      message: 'It was never sent, so there is nothing to ask DGI: retry, or give it up (abandon).',
    });
    const abandoned = await retry(RUT, given, '--action', 'abandon', '--reason', 'issued on paper');
    expect(abandoned).toMatchObject({
      rut: RUT,
      action: 'abandon',
      outcome: 'abandoned',
      stuck_reason: null,
    });
    expect(await verdictOf(stack.customer, RUT, given)).toMatchObject({
      cfe_status: 'REJECTED',
      rejection: [{ code: 'abandoned' }],
    });
    expect(await listed('--annulled')).toEqual([given]);
    expect(await auditOf(given)).toEqual([
      { actor: me, action: 'cfe.settle', reason: 'look', outcome: 'refused' },
      { actor: me, action: 'cfe.abandon', reason: 'issued on paper', outcome: 'abandoned' },
    ]);

    await wait(others);
    await uploadCertificate();
    const bulk = ['--stuck-reason', 'signing', '--reason', 'certificate uploaded'];
    const dry = await stack.cli.json<Row[]>('cfe', 'retry', ...bulk, '--dry-run');
    expect(dry.map(({ cfe_id }) => cfe_id).toSorted()).toEqual(others.toSorted());
    expect(new Set(dry.map(({ outcome }) => outcome))).toEqual(new Set(['dry_run']));
    expect(await stack.cli.json<Row[]>('cfe', 'retry', ...bulk, '--status', 'RECEIVED')).toEqual([]);
    await wait(others);

    const first = await stack.cli.json<Row[]>('cfe', 'retry', ...bulk, '--limit', '1');
    const rest = await stack.cli.json<Row[]>('cfe', 'retry', ...bulk);
    expect([first, rest].map((rows) => rows.map(({ outcome }) => outcome))).toEqual([
      ['retried'],
      ['retried', 'retried'],
    ]);
    for (const id of others) {
      expect((await verdictOf(stack.customer, RUT, id)).cfe_status).toBe('ACCEPTED');
      expect(await auditOf(id)).toEqual([
        {
          actor: me,
          action: 'cfe.retry',
          reason: expect.stringMatching(/^certificate uploaded \(retry-\d{4}-\d\d-\d\d-[0-9a-f]{6}\)$/),
          outcome: 'retried',
        },
      ]);
    }
    await wait([]);
    const ledger = await stack.ledger(RUT);
    expect(ledger.map(({ times_received }) => times_received)).toEqual([1, 1, 1]);
    expect(await stack.cli.json('cfe', 'retry', ...bulk)).toEqual([]);
  });

  test('an answer that no rule covers: settled by asking, or tried again from the Temporal UI', async () => {
    const [asked, tried] = await Promise.all([issue('SIM STATE FE'), issue('SIM STATE FE')]);
    await wait([asked, tried]);
    expect(await listed('--stuck-reason', 'verdict.unknown_state')).toEqual([asked, tried].toSorted());

    expect(
      await stack.cli.refusal('cfe', 'retry', RUT, asked, '--action', 'abandon', '--reason', 'x'),
    ).toEqual({
      code: 'INVALID_INPUT',
      message: 'DGI has it, so it cannot be given up: ask DGI (settle).',
    });
    const settled = await retry(
      RUT,
      asked,
      '--action',
      'settle',
      '--reason',
      'the authority says it is there',
    );
    expect(settled).toMatchObject({ cfe_status: 'ACCEPTED', outcome: 'settled', needs_support: false });

    const { workflow_id } = await stack.cli.json<Row>('cfe', 'show', RUT, tried);
    const run = client.workflow.getHandle(workflow_id);
    const { currentDetails = '' } = await run.query<{ currentDetails?: string }>(
      '__temporal_workflow_metadata',
    );
    const [, input = ''] = /```json\n\s*(\{.*"action":"retry".*)\n/.exec(currentDetails) ?? [];
    const request = { ...(JSON.parse(input) as object), by: 'eva', reason: 'FE was a mistake of theirs' };
    const answer: SupportAnswer = await run.executeUpdate('support', { args: [request] });
    expect(answer.outcome).toBe('retried');

    for (const id of [asked, tried]) {
      expect((await verdictOf(stack.customer, RUT, id)).cfe_status).toBe('ACCEPTED');
    }
    expect(await auditOf(tried)).toEqual([
      {
        actor: 'unverified',
        action: 'cfe.retry',
        reason: 'eva: FE was a mistake of theirs',
        outcome: 'retried',
      },
    ]);
    expect((await auditOf(asked)).at(-1)).toMatchObject({ action: 'cfe.settle', outcome: 'settled' });
    await wait([]);
  });

  test('a run that somebody cancels goes on, and one that is terminated is started again by recovery', async () => {
    const runOf = async (cfeId: string) => {
      const id = await until('its run', 60, async () => {
        const { workflow_id } = await stack.cli.json<{ workflow_id: string | null }>(
          'cfe',
          'show',
          RUT,
          cfeId,
        );
        return workflow_id ?? undefined;
      });
      return client.workflow.getHandle(id);
    };
    const cancelled = await issue('SIM DELAY 5');
    await (await runOf(cancelled)).cancel();
    expect((await verdictOf(stack.customer, RUT, cancelled)).cfe_status).toBe('ACCEPTED');

    const terminated = await issue('SIM DELAY 12');
    await (await runOf(terminated)).terminate('by hand');
    await stack.cli.json('recovery', 'requeue', '--rut', RUT, '--reason', 'a run was terminated');
    const { cfe_status, numero } = await verdictOf(stack.customer, RUT, terminated);
    expect(cfe_status).toBe('ACCEPTED');
    const rows = (await stack.ledger(RUT)).filter(
      (row) => row.cfe_type_code === '101' && row.numero === numero,
    );
    expect(rows.map(({ times_received }) => times_received)).toEqual([1]);
  });

  test('a run that is reset, and terminated while there is no verdict, is started again by the schedule; all goes out once', async () => {
    const outage = (seconds: number) =>
      got.put(`${stack.info().simulator_url}/portal/outage`, { json: { seconds } });
    await outage(600);
    // The tests after it need the authority, however this one ends.
    await using _ = { [Symbol.asyncDispose]: async () => void (await outage(0)) };
    const { cfe_id, numero } = await issueAt(stack.customer, RUT);
    const parts = parseCfeId(cfe_id);
    const row = async () =>
      parts && (await findCfe(stack.orm.em.fork(), { rut: RUT, environment: 'production', ...parts }));
    const { id, workflowId } = await until('its sobre', 60, async () => {
      const { sobreId } = (await row()) ?? {};
      return (sobreId && (await stack.orm.em.fork().findOne(Sobre, { id: sobreId }))) || undefined;
    });
    const run = client.workflow.getHandle(workflowId);
    const reset = async () => {
      const { runId } = await run.describe();
      await client.workflowService.resetWorkflowExecution({
        namespace: stack.info().temporal_namespace,
        workflowExecution: { workflowId, runId },
        // That of the first workflow task's beginning.
        workflowTaskFinishEventId: 3 as never,
        requestId: `reset-${runId}`,
        reason: 'by the test',
      });
    };
    const isUnderWay = async () => {
      const description = await run.describe().catch(() => undefined);
      return (description?.raw.pendingActivities ?? []).length > 0;
    };
    await until('its run', 60, isUnderWay);
    await reset();
    await until('the run that follows', 60, isUnderWay);
    await run.terminate('by hand');
    expect(await row()).toMatchObject({ status: 'PENDING', stuckReason: null });

    const anHourAgo = new Date(Date.now() - 3_600_000);
    await stack.orm.em.fork().nativeUpdate(Sobre, { id }, { createdAt: anHourAgo });
    await outage(0);
    await client.schedule.getHandle('recover').trigger();

    expect((await verdictOf(stack.customer, RUT, cfe_id)).cfe_status).toBe('ACCEPTED');
    expect(await run.result()).toEqual({ [cfe_id]: 'ACCEPTED' });
    // Of one that has ended the rows say all.
    await reset();
    expect(await run.result()).toEqual({ [cfe_id]: 'ACCEPTED' });
    const rows = (await stack.ledger(RUT)).filter((of) => of.cfe_type_code === '101' && of.numero === numero);
    expect(rows.map(({ times_received }) => times_received)).toEqual([1]);
  });

  test('a CFE that is well: nothing is done, and where it stands is said', async () => {
    const [ended, underWay] = [await issue(), await issue('SIM DELAY 12')];
    await verdictOf(stack.customer, RUT, ended);
    await until('RECEIVED', 30, async () => {
      const received = await stack.orm.em
        .fork()
        .execute(`select 1 from cfe where rut = ? and status = 'RECEIVED'`, [RUT]);
      return received.length > 0;
    });

    const actions = ['retry', 'settle', 'abandon'];
    const all = (cfeId: string) =>
      Promise.all(actions.map((action) => retry(RUT, cfeId, '--action', action, '--reason', 'to be sure')));
    const [ofUnderWay, ofEnded] = [await all(underWay), await all(ended)];

    expect(ofUnderWay.map(({ action, outcome, message }) => ({ action, outcome, message }))).toEqual(
      actions.map((action) => ({
        action,
        outcome: 'nothing_to_do',
        message: 'Nothing to do: it is RECEIVED, is not stuck, and continues automatically.',
      })),
    );
    expect(ofEnded.map(({ action, outcome, message }) => ({ action, outcome, message }))).toEqual(
      actions.map((action) => ({
        action,
        outcome: 'nothing_to_do',
        message: 'Nothing to do: it has its verdict, ACCEPTED.',
      })),
    );
    expect((await verdictOf(stack.customer, RUT, underWay)).cfe_status).toBe('ACCEPTED');
    expect(await auditOf(ended)).toEqual([]);
    expect(await auditOf(underWay)).toEqual([]);
  });
});
