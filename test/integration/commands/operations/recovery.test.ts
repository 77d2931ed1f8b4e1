import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type SkipNumbersInput, skipNumbers } from '../../../../src/commands/numbers/skipNumbers.ts';
import { type RequeueInput, requeue } from '../../../../src/commands/operations/requeue.ts';
import { issueCfe } from '../../../../src/commands/receipts/issueCfe.ts';
import { addWebhook, testWebhook } from '../../../../src/commands/webhooks/webhooks.ts';
import { nextIdemisor, setNextIdemisor } from '../../../../src/db/authority/sobres.ts';
import { Sobre } from '../../../../src/db/entities/authority.ts';
import { Cae } from '../../../../src/db/entities/numbers.ts';
import { OutboxMessage } from '../../../../src/db/entities/operations.ts';
import { Cfe } from '../../../../src/db/entities/receipts.ts';
import { findCaes } from '../../../../src/db/numbers/numbers.ts';
import { listAudit } from '../../../../src/db/operations/audit.ts';
import { countCfes } from '../../../../src/db/receipts/cfeSearch.ts';
import { requireCfe } from '../../../../src/db/receipts/cfes.ts';
import { montevideoDate } from '../../../../src/domain/values/montevideo.ts';
import { anAccount, idleIssuing } from '../../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../../support/database/database.ts';
import { aKeyPair } from '../../../support/database/sealing.ts';
import { anEnterprise, aReadyEnterprise, giveCae } from '../../../support/enterprises/enterprises.ts';
import { aCfeBody, type CfeWishes } from '../../../support/receipts/cfeBodies.ts';
import { fromJson } from '../../../support/receipts/exactJson.ts';
import { aSobreOf } from '../../../support/receipts/pendingCfes.ts';

let db: TestDatabase;
let account: string;
beforeAll(async () => {
  db = await cloneDatabase();
  account = await anAccount(db.orm);
});
afterAll(() => db[Symbol.asyncDispose]());

const deps = () => ({
  orm: db.orm,
  actor: 'cli:ana' as const,
  clock: () => new Date(),
  ...idleIssuing,
  sealer: aKeyPair().sealer,
  localReceivers: false,
});
const issue = async (rut: string, wishes: CfeWishes = {}): Promise<Cfe> => {
  const { id } = await issueCfe(deps(), {
    accountId: account,
    rut,
    environment: 'production',
    body: fromJson(JSON.stringify(aCfeBody(wishes))),
  });
  return requireCfe(db.orm.em.fork(), id);
};
const auditOf = async (rut: string) =>
  (await listAudit(db.orm.em.fork(), { rut }, 100)).map(({ actor, action, subject, reason }) => ({
    actor,
    action,
    subject,
    reason,
  }));

const sobreWorkflow = async (id: string) => (await db.orm.em.fork().findOneOrFail(Sobre, { id })).workflowId;

describe('requeue', () => {
  const outbox = (): Promise<{ workflow: string; workflow_id: string; signal: string | null }[]> =>
    db.orm.em.fork().execute('select workflow, workflow_id, signal from outbox order by id');
  const recover = (input: Partial<RequeueInput> = {}) =>
    requeue(deps(), { reason: 'Temporal was lost', dryRun: false, ...input });

  test('begins anew all that has no end, of one enterprise or of all, and nothing that has', async () => {
    const [rut, other] = [await aReadyEnterprise(db.orm, account), await aReadyEnterprise(db.orm, account)];
    const first = await issue(rut);
    // One that is decided by itself, one that shares a sobre with one that is not, and one that waits as a row.
    const [done, decided, second] = [await issue(rut), await issue(rut), await issue(rut)];
    await aSobreOf(db.orm, [done]);
    const both = await sobreWorkflow(await aSobreOf(db.orm, [decided, second]));
    for (const { id } of [done, decided])
      await db.orm.em.fork().nativeUpdate(Cfe, { id }, { status: 'ACCEPTED', settledAt: new Date() });
    await issue(rut);
    await issue(other);
    const waiting = await anEnterprise(db.orm, account);
    const asking = await aReadyEnterprise(db.orm, account, { values: { efacturaStatus: 'VALIDATING' } });
    const asked = await giveCae(db.orm, waiting, { start: { number: 500 } });
    const { authorizationNumber } = await db.orm.em.fork().findOneOrFail(Cae, { id: asked });
    const { webhook } = await addWebhook(deps(), {
      accountId: account,
      url: 'https://hooks.example.com/',
      events: ['cfe.updated'],
    });
    const delivery = await testWebhook(deps(), { webhookId: webhook.id });
    await db.orm.em.fork().execute('delete from outbox');

    const counts = [
      { workflow: 'issueCfes', unfinished: 3 },
      { workflow: 'onboardEnterprise', unfinished: 1 },
      { workflow: 'validateCredentials', unfinished: 1 },
      { workflow: 'checkCaeStart', unfinished: 1 },
      { workflow: 'deliverWebhook', unfinished: 1 },
      { workflow: 'reportDay', unfinished: 0 },
      { workflow: 'deliverReceipt', unfinished: 0 },
      { workflow: 'exchangeCfe', unfinished: 0 },
      { workflow: 'bulkRun', unfinished: 0 },
      { workflow: 'homologation', unfinished: 0 },
      { workflow: 'exportReceipts', unfinished: 0 },
    ];
    expect(await recover({ dryRun: true })).toEqual(counts);
    expect(await outbox()).toEqual([]);

    expect(await recover({ rut })).toMatchObject([{ unfinished: 2 }, ...counts.slice(1).map(() => ({}))]);
    expect(await outbox()).toEqual([
      { workflow: 'issueCfes', workflow_id: first.workflowId, signal: 'slotGiven' },
      { workflow: 'issueCfes', workflow_id: both, signal: 'slotGiven' },
    ]);
    expect((await auditOf(rut)).at(-1)).toEqual({
      actor: 'cli:ana',
      action: 'recovery.requeue',
      subject: rut,
      reason: 'Temporal was lost',
    });

    expect(await recover()).toEqual(counts);
    expect((await outbox()).slice(5)).toEqual([
      { workflow: 'onboardEnterprise', workflow_id: `enterprise:${waiting}`, signal: 'factsChanged' },
      { workflow: 'validateCredentials', workflow_id: `credentials:${asking}`, signal: null },
      {
        workflow: 'checkCaeStart',
        workflow_id: `cae-start:${waiting}:${authorizationNumber}`,
        signal: 'factsChanged',
      },
      { workflow: 'deliverWebhook', workflow_id: `wh:webhook.test:-:${delivery.id}`, signal: null },
    ]);
  });
});

test('requeue wakes runs that Temporal was restored with, by the ids of all their CFEs', async () => {
  const rut = await aReadyEnterprise(db.orm, account);
  await issue(rut);
  const workflowId = await sobreWorkflow(await aSobreOf(db.orm, [await issue(rut), await issue(rut)]));
  const em = db.orm.em.fork();
  await em.execute('delete from outbox');

  const [{ unfinished } = { unfinished: 0 }] = await requeue(deps(), {
    rut,
    reason: 'restored to 14:05',
    dryRun: false,
  });

  expect(unfinished).toBe(2);
  const messages = await em.find(OutboxMessage, { workflowId });
  expect(messages).toMatchObject([
    { signal: 'slotGiven', searchAttributes: { EnterpriseRut: rut, CfeId: ['101-2', '101-3'] } },
  ]);
});

test('requeue that is broken off after it began stands in the audit all the same', async () => {
  const rut = await aReadyEnterprise(db.orm, account);
  await issue(rut);
  const { clock } = deps();
  let looks = 0;
  const dying = () => {
    looks += 1;
    if (looks > 1) throw new Error('the process is gone');
    return clock();
  };

  const broken = requeue({ ...deps(), clock: dying }, { rut, reason: 'Temporal was lost', dryRun: false });

  await expect(broken).rejects.toThrow('the process is gone');
  expect((await auditOf(rut)).at(-1)).toMatchObject({ action: 'recovery.requeue', subject: rut });
});

describe('skipNumbers', () => {
  /** Has the numbers given here under these verdicts. */
  const authority = (held: Record<number, string | null>) => {
    const asked: number[] = [];
    return {
      asked,
      async askAuthority({ numero }: { numero: number }) {
        asked.push(numero);
        return numero in held ? { verdict: held[numero] ?? null } : undefined;
      },
    };
  };
  const skip = (rut: string, held: Record<number, string | null>, more: Partial<SkipNumbersInput> = {}) =>
    skipNumbers(
      { ...deps(), ...authority(held) },
      {
        rut,
        environment: 'production',
        type: 'ETICKET',
        to: 5,
        reason: 'restored to 14:05',
        dryRun: false,
        ...more,
      },
    );
  const lastNumber = async (rut: string) =>
    (await findCaes(db.orm.em.fork(), rut, 'production')).map(({ lastNumber: last }) => last);

  test('passes over numbers, cfe_ids and sobres alike, tells what the authority has, and keeps the reason', async () => {
    const rut = await aReadyEnterprise(db.orm, account, { caes: [{}] });
    await issue(rut);
    await setNextIdemisor(db.orm.em.fork(), { rut, environment: 'production' }, 101);

    const skipped = await skip(rut, { 2: 'AE', 4: null });

    const numbers = { serie: 'A' };
    expect(skipped).toEqual([
      { ...numbers, numero: 2, at_authority: true, verdict: 'AE' },
      { ...numbers, numero: 3, at_authority: false, verdict: null },
      { ...numbers, numero: 4, at_authority: true, verdict: null },
      { ...numbers, numero: 5, at_authority: false, verdict: null },
    ]);
    expect(await issue(rut)).toMatchObject({ numero: 6, sequence: 6 });
    const em = db.orm.em.fork();
    expect(
      await em.transactional((open) =>
        nextIdemisor(open, { rut, environment: 'production' }, montevideoDate(new Date())),
      ),
    ).toBe(105n);
    expect(await countCfes(em, null, { rut, environment: 'production' })).toBe(2);
    expect((await auditOf(rut)).at(-1)).toMatchObject({
      actor: 'cli:ana',
      action: 'recovery.skip_numbers',
      reason: 'ETICKET A 2 to 5: restored to 14:05',
    });
  });

  test('where nothing was issued before, too', async () => {
    const rut = await aReadyEnterprise(db.orm, account, { caes: [{ from: 100, to: 200 }] });

    await skip(rut, {}, { to: 101 });

    expect(await issue(rut)).toMatchObject({ numero: 102, sequence: 3 });
  });

  test('a dry run only asks', async () => {
    const rut = await aReadyEnterprise(db.orm, account, { caes: [{}] });

    expect(await skip(rut, { 1: 'AE' }, { to: 2, dryRun: true })).toMatchObject([
      { numero: 1, at_authority: true },
      { numero: 2, at_authority: false },
    ]);
    expect(await issue(rut)).toMatchObject({ numero: 1, sequence: 1 });
    expect(await auditOf(rut)).toEqual([]);
  });

  test.each([
    ['back', 9],
    ['to where it stands', 10],
    ['beyond the CAE', 21],
  ])('never moves %s', async (_, to) => {
    const rut = await aReadyEnterprise(db.orm, account, { caes: [{ from: 1, to: 20, last: 10 }] });

    await expect(skip(rut, {}, { to })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    expect(await lastNumber(rut)).toEqual([10]);
  });

  test('refuses a type without numbers, and where numbers are given while the authority is asked', async () => {
    const rut = await aReadyEnterprise(db.orm, account, { caes: [{}] });
    await expect(skip(rut, {}, { type: 'EFACTURA' })).rejects.toMatchObject({ code: 'INVALID_INPUT' });

    let issued = false;
    const meanwhile = {
      ...deps(),
      async askAuthority() {
        if (!issued) await issue(rut);
        issued = true;
        return undefined;
      },
    };
    const input = {
      rut,
      environment: 'production',
      type: 'ETICKET',
      to: 3,
      reason: 'r',
      dryRun: false,
    } as const;
    await expect(skipNumbers(meanwhile, input)).rejects.toMatchObject({
      message: 'Numbers of this type were taken meanwhile; stop the API and the worker first.',
    });
    expect(await lastNumber(rut)).toEqual([1]);
  });
});
