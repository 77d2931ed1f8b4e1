import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, test } from '@jest/globals';
import { Webhook as Verifier } from 'standardwebhooks';
import type { CfeView } from '../../local/demo/customer.ts';
import { issueLocalCertificate } from '../../local/demo/localCertificate.ts';
import { DEMO_RUT } from '../../local/demo/onboarding.ts';
import { LOCAL_DEVELOPER } from '../../local/stack/prepareStack.ts';
import { inspectEvent } from '../support/openapi/conformance.ts';
import { issue as issueAt, startTestStack, verdictOf } from '../support/stacks.ts';
import { until } from '../support/until.ts';
import { useStack } from '../support/useStack.ts';
import { type Received, type Receiver, startReceiver } from '../support/webhooks/receiver.ts';

interface Message {
  event: string;
  data: Record<string, unknown>;
}
interface DeliveryRow {
  delivery_id: string;
  status: string;
  attempts: unknown[];
  body: string;
}

describe('a customer’s server learns of every change, on the whole stack', () => {
  let receiver: Receiver;
  let secret: string;
  let webhookId: string;
  const stack = useStack(startTestStack, async ({ info, cli }) => {
    const { ca_file, ca_key_file } = info();
    const [caPem, keyPem] = [readFileSync(ca_file, 'utf8'), readFileSync(ca_key_file, 'utf8')];
    receiver = await startReceiver({
      caPem,
      ...(await issueLocalCertificate({ certificatePem: caPem, keyPem })),
    });
    const made = await cli.json<{ webhook_id: string; secret: string }>(
      'webhook',
      'add',
      LOCAL_DEVELOPER,
      '--url',
      receiver.url(),
      ...['efactura.login', 'enterprise.updated', 'payment.created', 'cfe.updated'].flatMap((e) => [
        '--event',
        e,
      ]),
    );
    ({ webhook_id: webhookId, secret } = made);
  });
  afterAll(() => receiver?.close());

  const messageOf = ({ body }: Received): Message => JSON.parse(body) as Message;
  const told = (event: string): Message[] =>
    receiver.received.map(messageOf).filter((message) => message.event === event);
  const issue = () => issueAt(stack.customer, DEMO_RUT);

  test('onboarding tells of the login and of every change of the enterprise, to READY', async () => {
    await stack.onboard([101]);

    const ready = await until('the event of READY', 20, async () =>
      told('enterprise.updated').find(({ data }) => data['status'] === 'READY'),
    );
    expect(ready.data['changes']).toMatchObject({ status: { from: 'PENDING', to: 'READY' } });
    await until('efactura.login', 20, async () => told('efactura.login').length > 0);
    expect(told('efactura.login')[0]?.data).toMatchObject({
      enterprise_rut: DEMO_RUT,
      status: 'success',
      permissions: ['HOMO', 'PROD'],
    });
    for (const request of receiver.received) {
      expect(new Verifier(secret).verify(request.body, request.headers)).toEqual(messageOf(request));
      inspectEvent(request);
    }
  });

  test('a CFE is followed from PENDING to its verdict', async () => {
    const { cfe_id } = await issue();
    await verdictOf(stack.customer, DEMO_RUT, cfe_id);
    const of = () => told('cfe.updated').filter(({ data }) => data['cfe_id'] === cfe_id);
    await until('both events', 20, async () => of().length >= 2);

    const moves = of().map(({ data }) => (data['changes'] as { cfe_status: unknown }).cfe_status);
    expect(moves).toHaveLength(2);
    expect(moves).toEqual(
      expect.arrayContaining([
        { from: 'PENDING', to: 'RECEIVED' },
        { from: 'RECEIVED', to: 'ACCEPTED' },
      ]),
    );
  });

  test('the command line shows the CFE, its signed XML, and who did what', async () => {
    const { cfe_id } = await issue();
    await verdictOf(stack.customer, DEMO_RUT, cfe_id);

    const shown = await stack.cli.json<{ history: { what: string }[] }>('cfe', 'show', DEMO_RUT, cfe_id);
    expect(shown).toMatchObject({
      cfe_id,
      cfe_status: 'ACCEPTED',
      environment: 'production',
      needs_support: false,
      stuck_reason: null,
      workflow_id: expect.stringMatching(new RegExp(`^cfe:${DEMO_RUT}:${cfe_id}(\\+\\d+)?:[0-9a-f]{8}$`)),
    });
    expect(shown.history.at(0)?.what).toBe('numbered');
    expect(shown.history.at(-1)?.what).toBe('accepted');
    const [listed] = await stack.cli.json<{ rut: string }[]>(
      'cfe',
      'list',
      '--rut',
      DEMO_RUT,
      '--limit',
      '1',
    );
    expect(listed).toMatchObject({ cfe_id, rut: DEMO_RUT });
    expect({ rut: DEMO_RUT, ...shown }).toMatchObject(listed ?? {});
    const { code, stdout } = await stack.cli.call('cfe', 'xml', DEMO_RUT, cfe_id);
    expect(code).toBe(0);
    const [row] = (await stack.ledger(DEMO_RUT)).slice(-1);
    expect(createHash('sha256').update(stdout).digest('hex')).toBe(row?.sha256);
    const acts = await stack.cli.json<{ actor: string; action: string }[]>(
      'audit',
      'list',
      '--rut',
      DEMO_RUT,
    );
    expect(acts.map(({ action }) => action)).toEqual(
      expect.arrayContaining([
        'enterprise.create',
        'credentials.validate',
        'certificate.upload',
        'cae.upload',
      ]),
    );
    expect(new Set(acts.map(({ actor }) => actor))).toEqual(new Set([`account:${LOCAL_DEVELOPER}`]));
  });

  test('the worker is killed while the receiver has the message: it comes again, same id and same bytes', async () => {
    // The receiver's script takes the next request, whatever it is.
    await until('the deliveries of earlier tests', 60, async () => {
      const [row] = await stack.orm.em
        .fork()
        .execute<{ n: number }[]>(`select count(*)::int as n from delivery where status = 'PENDING'`);
      return row?.n === 0;
    });
    const before = receiver.received.length;
    let held = 0;
    receiver.script.push(() => {
      held += 1;
    });
    const { delivery_id } = await stack.cli.json<DeliveryRow>('webhook', 'test', webhookId);
    await until('the first try', 20, async () => held === 1);
    process.kill(Number(stack.info().pids.worker), 'SIGKILL');

    await until('the delivery', 60, async () => {
      const [row] = await stack.orm.em
        .fork()
        .execute<{ status: string }[]>('select status from delivery where id = ?', [delivery_id]);
      return row?.status === 'DELIVERED';
    });
    const delivery = await stack.cli.json<DeliveryRow>('delivery', 'show', delivery_id);

    const sent = receiver.received
      .slice(before)
      .filter(({ headers }) => headers['webhook-id'] === delivery_id);
    expect(sent.length).toBeGreaterThanOrEqual(2);
    expect(new Set(sent.map(({ body }) => body))).toEqual(new Set([delivery.body]));
    expect(delivery.attempts).toHaveLength(1);
    for (const request of sent) new Verifier(secret).verify(request.body, request.headers);
  });

  test('the worker is killed again and again while CFEs are in progress: every move is told, none that was not made', async () => {
    const issued: string[] = [];
    const statusOf = async (id: string): Promise<string | undefined> =>
      (await stack.customer.get<{ items: CfeView[] }>(`enterprises/${DEMO_RUT}/cfes/${id}`)).items[0]
        ?.cfe_status;
    const toldOf = (id: string): number =>
      told('cfe.updated').filter(({ data }) => data['cfe_id'] === id).length;
    /** When the worker is killed: each time at another step of the CFE that was issued last. */
    const steps: ((id: string) => Promise<boolean>)[] = [
      async () => true,
      async () => (await stack.ledger(DEMO_RUT)).length >= issued.length,
      async (id) => (await statusOf(id)) !== 'PENDING',
      async (id) => toldOf(id) >= 1,
      async (id) => (await statusOf(id)) === 'ACCEPTED',
    ];
    for (const reached of steps) {
      for (let i = 0; i < 3; i += 1) issued.push((await issue()).cfe_id);
      const last = issued.at(-1) ?? '';
      await until('the step', 30, async () => await reached(last));
      const pid = stack.info().pids.worker;
      if (pid !== null) process.kill(pid, 'SIGKILL');
      await until('the next worker', 30, async () => {
        const next = stack.info().pids.worker;
        return next !== null && next !== pid;
      });
    }
    for (const id of issued) await verdictOf(stack.customer, DEMO_RUT, id);

    const verdicts = (id: string) =>
      new Set(
        told('cfe.updated')
          .filter(({ data }) => data['cfe_id'] === id)
          .map(({ data }) => data['status']),
      );
    const moves = ['RECEIVED', 'ACCEPTED'];
    // In no order: what was told first may arrive last.
    await until('the events of all', 60, async () =>
      issued.every((id) => moves.every((one) => verdicts(id).has(one))),
    );
    for (const id of issued) expect(verdicts(id)).toEqual(new Set(moves));
  });
});
