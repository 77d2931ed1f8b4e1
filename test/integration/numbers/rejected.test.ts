import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { issueCfe } from '../../../src/commands/receipts/issueCfe.ts';
import { addWebhook } from '../../../src/commands/webhooks/webhooks.ts';
import { Annulment } from '../../../src/db/entities/numbers.ts';
import { Cfe } from '../../../src/db/entities/receipts.ts';
import { listAnnulments as listed } from '../../../src/db/numbers/numbers.ts';
import { recordAudit } from '../../../src/db/operations/audit.ts';
import { anAccount, idleOutbox } from '../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.ts';
import { aReadyEnterprise } from '../../support/enterprises/enterprises.ts';
import { aCfeBody } from '../../support/receipts/cfeBodies.ts';
import { fromJson } from '../../support/receipts/exactJson.ts';
import { decideCfe } from '../../support/temporal/verdicts.ts';
import { webhookDeps } from '../../support/webhooks/deliveries.ts';

/** Late on a day in Montevideo, when UTC is a day further. */
const SIGNED = new Date('2026-11-10T23:30:00-03:00');
const DECIDED = new Date('2026-11-12T22:00:00-03:00');

describe('the number of a rejected CFE', () => {
  let db: TestDatabase;
  let accountId: string;
  /** Of one nobody hears, of the other a webhook does: verdicts are stored in two ways. */
  let [unheard, heard] = ['', ''];
  beforeAll(async () => {
    db = await cloneDatabase({ worker: true });
    accountId = await anAccount(db.orm);
    unheard = await aReadyEnterprise(db.orm, accountId);
    const other = await anAccount(db.orm);
    heard = await aReadyEnterprise(db.orm, other);
    const url = 'https://hooks.example.com/';
    await addWebhook(webhookDeps(db.orm), { accountId: other, url, events: ['cfe.updated'] });
    owners.set(unheard, accountId).set(heard, other);
  });
  afterAll(() => db[Symbol.asyncDispose]());

  const owners = new Map<string, string>();
  async function aCfe(rut: string, { signed = true } = {}): Promise<Cfe> {
    const { id } = await issueCfe(
      { ...webhookDeps(db.orm), clock: () => SIGNED },
      {
        accountId: owners.get(rut) ?? '',
        rut,
        environment: 'production',
        body: fromJson(JSON.stringify(aCfeBody({ emissionDate: '2026-11-10' }))),
      },
    );
    const em = db.orm.em.fork();
    if (signed) await em.nativeUpdate(Cfe, { id }, { signedXml: '<CFE/>', digest: 'ZGlnZXN0' });
    return em.findOneOrFail(Cfe, { id });
  }
  const deps = () => ({ orm: db.worker, clock: () => DECIDED, outbox: idleOutbox });
  const decide = (cfe: Cfe, codes: readonly string[]) =>
    decideCfe(deps(), cfe.id, {
      status: 'REJECTED',
      reasons: codes.map((code) => ({ code, message: code, detail: null })),
    });
  const annulmentsOf = (cfe: Cfe) => db.orm.em.fork().find(Annulment, { cfeUuid: cfe.id });

  test.each([
    [['E05'], 'rejected'],
    [['E06', 'E05'], 'rejected'],
    [['S03'], 'rejected'],
    [[], 'rejected'],
    [['abandoned'], 'abandoned'],
    [['reference.rejected'], 'reference.rejected'],
  ])('rejected for %j: annulled with the verdict, for the day of its signature', async (codes, reason) => {
    for (const rut of [unheard, heard]) {
      const cfe = await aCfe(rut);
      await decide(cfe, codes);

      const { environment, type, serie, caeId, numero } = cfe;
      expect(await annulmentsOf(cfe)).toMatchObject([
        {
          rut,
          environment,
          type,
          serie,
          caeId,
          fromNumber: numero,
          toNumber: numero,
          reason,
          reportDate: '2026-11-10',
          annulledAt: DECIDED,
        },
      ]);
    }
  });

  test('the list tells the authority’s codes, and what support typed to operators alone', async () => {
    const rut = await aReadyEnterprise(db.orm, accountId);
    owners.set(rut, accountId);
    const [rejected, abandoned] = [await aCfe(rut), await aCfe(rut)];
    await decide(rejected, ['E05', 'E10']);
    await decide(abandoned, ['abandoned']);
    await db.orm.em.fork().transactional(async (em) =>
      recordAudit(
        em,
        {
          actor: 'cli:ana',
          action: 'cfe.abandon',
          subject: abandoned.id,
          reason: 'wrong CAE',
          outcome: 'abandoned',
        },
        DECIDED,
      ),
    );
    const seen = async (isOperator: boolean) =>
      (await listed(db.orm.em.fork(), { rut, isOperator }, { after: null, limit: 10 })).map(
        ({ reason, authorityCodes, typedReason }) => [reason, authorityCodes, typedReason],
      );

    expect(await seen(true)).toEqual([
      ['abandoned', [], 'wrong CAE'],
      ['rejected', ['E05', 'E10'], null],
    ]);
    expect(await seen(false)).toEqual([
      ['abandoned', [], null],
      ['rejected', ['E05', 'E10'], null],
    ]);
  });

  test('never signed: for the day of the decision', async () => {
    const cfe = await aCfe(unheard, { signed: false });
    await decide(cfe, ['abandoned']);

    expect(await annulmentsOf(cfe)).toMatchObject([{ reason: 'abandoned', reportDate: '2026-11-12' }]);
  });

  test.each([[['E02']], [['E05', 'E02']], [['E09']], [['E06']], [['abandoned', 'duplicate.not_ours']]])(
    'rejected for %j: not annulled',
    async (codes) => {
      for (const rut of [unheard, heard]) {
        const cfe = await aCfe(rut);
        await decide(cfe, codes);
        expect(await annulmentsOf(cfe)).toEqual([]);
      }
    },
  );

  test('accepted: not annulled', async () => {
    const cfe = await aCfe(unheard);
    await decideCfe(deps(), cfe.id, { status: 'ACCEPTED', reasons: [] });
    expect(await annulmentsOf(cfe)).toEqual([]);
  });

  test('no number is annulled twice, nor is an annulment changed or removed', async () => {
    const cfe = await aCfe(unheard);
    await decide(cfe, ['E05']);
    const em = db.orm.em.fork();

    const copy = `insert into annulment (rut, environment, type, serie, from_number, to_number, reason, report_date,
      annulled_at, cae_id) select rut, environment, type, serie, numero - 1, numero + 1, 'by_hand', current_date, now(),
      cae_id from cfe where id = ?`;
    await expect(em.execute(copy, [cfe.id])).rejects.toMatchObject({ constraint: 'annulment_once' });
    for (const change of ['delete from annulment', `update annulment set reason = 'abandoned'`])
      await expect(db.worker.em.fork().execute(change)).rejects.toMatchObject({ code: '42501' });
  });
});
