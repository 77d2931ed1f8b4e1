import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { storeVerdict } from '../../../src/activities/steps/storeVerdict.ts';
import { addWebhook } from '../../../src/commands/addWebhook.ts';
import { issueCfe } from '../../../src/commands/issueCfe.ts';
import { Annulment } from '../../../src/db/entities/Annulment.ts';
import { Cfe } from '../../../src/db/entities/Cfe.ts';
import { migrate, openOrm } from '../../../src/db/orm.ts';
import { aCfeBody } from '../../support/cfeBodies.ts';
import { anAccount, idleOutbox } from '../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database.ts';
import { aReadyEnterprise, giveCae } from '../../support/enterprises.ts';
import { fromJson } from '../../support/exactJson.ts';
import { until } from '../../support/until.ts';
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
    db = await cloneDatabase();
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
  const deps = () => ({ orm: db.orm, clock: () => DECIDED, outbox: idleOutbox });
  const decide = (cfe: Cfe, codes: readonly string[]) =>
    storeVerdict(deps(), cfe.id, {
      status: 'REJECTED',
      reasons: codes.map((code) => ({ code, message: code, detail: null })),
    });
  const annulmentsOf = (cfe: Cfe) => db.orm.em.fork().find(Annulment, { cfeId: cfe.id });

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
    await storeVerdict(deps(), cfe.id, { status: 'ACCEPTED', reasons: [] });
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
      await expect(em.execute(change)).rejects.toMatchObject({ code: '42501' });
  });

  test('what was rejected by the version before is annulled by the migration, and numbers that no CFE has are noted', async () => {
    const [lost, kept] = [await aCfe(unheard), await aCfe(unheard)];
    await decide(lost, ['E05']);
    await decide(kept, ['E06']);
    const fromFive = await giveCae(db.orm, heard, { serie: 'ZZ', from: 1, to: 100, last: 4 });
    const all = () =>
      db.orm.em.fork().execute(`select rut, environment, type, serie, from_number, to_number, reason,
        report_date, annulled_at, cae_id, cfe_id from annulment order by cfe_id`);
    const before = await all();
    await db.asOwner(
      'drop table annulment cascade',
      'drop trigger annul_number_of_rejected on cfe',
      'drop trigger note_numbers_before_first on cae',
      'alter table cae drop column elsewhere, drop column numbers_left, drop column withheld',
      'drop index cfe_rejected',
      'drop function annul_number_of_rejected, note_numbers_before_first, number_fate, how_many',
      `delete from migration where name = '0033_annulments'`,
    );
    const owner = await openOrm({ databaseUrl: db.ownerUrl, pool: 2 });
    try {
      // A note is being numbered meanwhile: it has looked at the CAEs, and has still to take its number.
      const note = db.orm.em.fork();
      await note.begin();
      await note.execute('select id from cae limit 1');
      const migrating = migrate(owner);
      await until('the migration waits', 20, async () => {
        const [row] = await db.orm.em
          .fork()
          .execute<{ waiting: number }[]>(
            `select count(*)::int as waiting from pg_locks where not granted and relation = 'cae'::regclass`,
          );
        return row?.waiting === 1;
      });
      await note.execute('update cae set last_number = last_number where false');
      await note.execute('update cfe set status = status where false');
      await note.commit();
      expect(await migrating).toEqual(['0033_annulments']);
    } finally {
      await owner.close(true);
    }

    expect(await all()).toEqual(before);
    expect(before.length).toBeGreaterThan(0);
    const elsewhere = 'select elsewhere::text from cae where id = ?';
    expect(await db.orm.em.fork().execute(elsewhere, [lost.caeId])).toEqual([{ elsewhere: '{}' }]);
    expect(await db.orm.em.fork().execute(elsewhere, [fromFive])).toEqual([{ elsewhere: '{[1,5)}' }]);
  });
});
