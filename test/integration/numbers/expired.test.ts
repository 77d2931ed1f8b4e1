import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createRecordExpiries } from '../../../src/activities/enterprises/recordExpiries.ts';
import { annulNumbers } from '../../../src/commands/numbers/annulNumbers.ts';
import { issueCfe } from '../../../src/commands/receipts/issueCfe.ts';
import {
  annulUnusedNumbers,
  findCaes,
  listAnnulments,
  reconcileNumbers,
} from '../../../src/db/numbers/numbers.ts';
import { lockNumbering } from '../../../src/db/receipts/cfes.ts';
import type { Environment } from '../../../src/domain/receipts/cfeTypes.ts';
import { anAccount } from '../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.ts';
import { aReadyEnterprise, type CaeRowWishes, giveCae } from '../../support/enterprises/enterprises.ts';
import { aCfeBody } from '../../support/receipts/cfeBodies.ts';
import { fromJson } from '../../support/receipts/exactJson.ts';
import { asActivity } from '../../support/temporal/activityContext.ts';
import { until } from '../../support/until.ts';
import { webhookDeps } from '../../support/webhooks/deliveries.ts';

const LAST_DAY = '2026-11-10';
const BEFORE_MIDNIGHT = new Date('2026-11-10T23:59:59-03:00');
const AFTER_MIDNIGHT = new Date('2026-11-11T00:05:00-03:00');

describe('the numbers that an expired CAE has left', () => {
  let db: TestDatabase;
  let accountId: string;
  beforeAll(async () => {
    db = await cloneDatabase({ pool: 20, worker: true });
    accountId = await anAccount(db.orm);
  });
  afterAll(() => db[Symbol.asyncDispose]());

  const enterprise = (...caes: CaeRowWishes[]) =>
    aReadyEnterprise(db.orm, accountId, {
      caes: caes.map((cae) => ({ expirationDate: LAST_DAY, ...cae })),
    });
  const issueAt = (rut: string, clock: () => Date) =>
    issueCfe(
      { ...webhookDeps(db.orm), clock },
      {
        accountId,
        rut,
        environment: 'production',
        body: fromJson(JSON.stringify(aCfeBody({ emissionDate: LAST_DAY }))),
      },
    );
  /** The hourly look at what has expired. */
  const lookAt = (moment: Date) =>
    asActivity(createRecordExpiries({ orm: db.worker, clock: () => moment, page: 2 }));
  const annulledOf = async (rut: string, environment: Environment = 'production') =>
    (
      await listAnnulments(
        db.orm.em.fork(),
        { rut, environment, isOperator: true },
        { after: null, limit: 100 },
      )
    ).map((each) => [each.serie, each.from, each.to, each.reason, each.reportDate]);
  const numbersOf = (rut: string) => reconcileNumbers(db.orm.em.fork(), { rut });

  test('are annulled once it is past midnight, once, for the day after its last', async () => {
    const rut = await enterprise({ to: 20 }, { serie: 'B', to: 5, last: 5 });
    await giveCae(db.orm, rut, {
      serie: 'C',
      from: 3,
      to: 9,
      expirationDate: LAST_DAY,
      environment: 'sandbox',
    });
    await issueAt(rut, () => BEFORE_MIDNIGHT);

    await lookAt(BEFORE_MIDNIGHT);
    expect(await annulledOf(rut)).toEqual([]);

    await lookAt(AFTER_MIDNIGHT);
    await lookAt(new Date('2026-11-15T12:00:00Z'));

    expect(await annulledOf(rut)).toEqual([['A', 2, 20, 'cae.expired', '2026-11-11']]);
    expect(await annulledOf(rut, 'sandbox')).toEqual([['C', 3, 9, 'cae.expired', '2026-11-11']]);
    expect(await numbersOf(rut)).toMatchObject([
      { serie: 'A', given: 20, annulled: 19, waiting: 1 },
      { serie: 'B', given: 0, annulled: 0, elsewhere: 5 },
      { serie: 'C', given: 7, annulled: 7, elsewhere: 0 },
    ]);
  });

  test('after an outage of days still for the day after its last; what was annulled by hand stays as it is', async () => {
    const rut = await enterprise({ to: 20 });
    const deps = { ...webhookDeps(db.orm), clock: () => BEFORE_MIDNIGHT };
    const numbers = { type: 'ETICKET', serie: 'A', from: 8, to: 9 } as const;
    await annulNumbers(deps, { rut, environment: 'production', reason: 'printed on paper', ...numbers });

    await lookAt(new Date('2026-11-15T12:00:00Z'));

    expect(await annulledOf(rut)).toEqual([
      ['A', 10, 20, 'cae.expired', '2026-11-11'],
      ['A', 1, 7, 'cae.expired', '2026-11-11'],
      ['A', 8, 9, 'by_hand', '2026-11-10'],
    ]);
    expect(await numbersOf(rut)).toMatchObject([{ given: 20, annulled: 20 }]);
  });

  test('are not given to a request that was judged before midnight and comes to the numbering after them', async () => {
    const rut = await enterprise({ to: 20 });
    const [cae] = await findCaes(db.orm.em.fork(), rut, 'production');
    let now = BEFORE_MIDNIGHT;

    const late = await db.orm.em.fork().transactional(async (open) => {
      await lockNumbering(open, { rut, environment: 'production', type: 'ETICKET' });
      const issuing = Promise.allSettled([issueAt(rut, () => now)]);
      await until('the request waits for the numbering', 20, async () => {
        const [row] = await db.orm.em.fork().execute<{ waiting: number }[]>(
          `select count(*)::int as waiting from pg_stat_activity
           where datname = current_database() and wait_event_type = 'Lock'`,
        );
        return row?.waiting === 1;
      });
      const of = { reason: 'cae.expired', reportDate: '2026-11-11', now: AFTER_MIDNIGHT } as const;
      await annulUnusedNumbers(open, cae?.id ?? '', { from: 1, to: 20 }, of);
      now = AFTER_MIDNIGHT;
      return { issuing };
    });

    expect(await late.issuing).toMatchObject([{ reason: { faults: [{ code: 'cae.none_left' }] } }]);
    expect(await annulledOf(rut)).toEqual([['A', 1, 20, 'cae.expired', '2026-11-11']]);
    expect(await numbersOf(rut)).toMatchObject([{ given: 20, annulled: 20, waiting: 0 }]);
  });

  test('while requests are in progress: each number is given or annulled, never both, never neither', async () => {
    const rut = await enterprise({ to: 200 });
    let now = BEFORE_MIDNIGHT;

    const taking = Promise.allSettled(Array.from({ length: 60 }, () => issueAt(rut, () => now)));
    const look = lookAt(AFTER_MIDNIGHT);
    now = AFTER_MIDNIGHT;
    const taken = (await taking).filter(({ status }) => status === 'fulfilled').length;
    await look;

    expect(await numbersOf(rut)).toMatchObject([{ given: 200, annulled: 200 - taken, waiting: taken }]);
  });
});
