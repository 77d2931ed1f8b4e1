import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createRecordExpiries } from '../../../src/activities/enterprises/recordExpiries.ts';
import { addWebhook } from '../../../src/commands/webhooks/webhooks.ts';
import { findEnterprise, lockEnterprise } from '../../../src/db/enterprises/enterprises.ts';
import { Certificate } from '../../../src/db/entities/enterprises.ts';
import { recordEnterpriseChanges } from '../../../src/db/webhooks/events.ts';
import { anAccount, eventsOf, outboxOf } from '../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.ts';
import { anEnterprise, giveCae, giveCertificate } from '../../support/enterprises/enterprises.ts';
import { openTemporal, type TestTemporal } from '../../support/temporal/temporal.ts';
import { deliveriesTo, webhookDeps } from '../../support/webhooks/deliveries.ts';

const CREATED = new Date('2026-03-01T12:00:00Z');
/** Just after midnight in Montevideo, the day after most papers of these tests expire. */
const NEXT_NIGHT = new Date('2026-04-11T03:05:00Z');

describe('papers that expire by date are told of once', () => {
  let db: TestDatabase;
  let temporal: TestTemporal;
  let owner: string;
  beforeAll(async () => {
    [db, temporal] = await Promise.all([cloneDatabase({ worker: true }), openTemporal('cfe')]);
    owner = await anAccount(db.orm);
  });
  afterAll(async () => {
    await temporal[Symbol.asyncDispose]();
    await db[Symbol.asyncDispose]();
  });

  let runs = 0;
  /** One run of the workflow, as the schedule starts it; how many were told. */
  async function run(): Promise<number> {
    runs += 1;
    const options = { workflowId: `expiries-${runs}`, taskQueue: 'cfe' };
    const { told } = (await temporal.client.workflow.execute('tellExpiries', options)) as { told: number };
    return told;
  }
  let now = CREATED;
  const withTheActivity = <T>(work: () => Promise<T>): Promise<T> =>
    temporal.withWorkers(
      { recordExpiries: createRecordExpiries({ orm: db.worker, clock: () => now, page: 2 }) },
      work,
    );
  /** Runs with the real activity, one after the other; the clock stands at each of `moments` in turn. */
  const tellAt = (...moments: Date[]): Promise<number[]> =>
    withTheActivity(async () => {
      const told: number[] = [];
      for (const moment of moments) {
        now = moment;
        told.push(await run());
      }
      return told;
    });
  const enterprise = () => anEnterprise(db.orm, owner, { createdAt: CREATED });
  /** What is told beside of papers that expire soon: test/integration/enterprises/warnings.test.ts. */
  const updatesOf = async (rut: string) =>
    (await eventsOf(db.orm, rut)).filter(({ event }) => event === 'enterprise.updated');
  const changesOf = async (rut: string) =>
    (await updatesOf(rut)).map(({ event, data }) => ({ event, changes: data['changes'] }));
  const toldAt = async (rut: string) => (await findEnterprise(db.orm.em.fork(), rut))?.expiriesToldAt;

  test('a certificate that has expired is told with what it was and what it is, to whoever selected it, and once', async () => {
    const rut = await enterprise();
    await giveCertificate(db.orm, rut, { notAfter: new Date('2026-04-10T15:00:00Z') });
    const { webhook } = await addWebhook(webhookDeps(db.orm), {
      accountId: owner,
      url: 'https://hooks.example.com/',
      events: ['enterprise.updated'],
    });

    const told = await tellAt(
      new Date('2026-04-10T14:59:59Z'),
      NEXT_NIGHT,
      NEXT_NIGHT,
      new Date('2026-05-01T03:05:00Z'),
    );

    expect(told).toEqual([0, 1, 0, 0]);
    expect(await changesOf(rut)).toEqual([
      {
        event: 'enterprise.updated',
        changes: {
          certificate: {
            from: expect.objectContaining({ status: 'VALID', expiration_date: '2026-04-10' }),
            to: expect.objectContaining({ status: 'EXPIRED', expiration_date: '2026-04-10' }),
          },
        },
      },
    ]);
    expect(await toldAt(rut)).toEqual(NEXT_NIGHT);
    const [delivery, ...more] = await deliveriesTo(db.orm, webhook.id);
    expect(more).toEqual([]);
    expect(await outboxOf(db.orm, `wh:enterprise.updated:${rut}:${delivery?.id}`)).toHaveLength(1);
  });

  test('a CAE is told of when its last day in Montevideo is over, each CAE on its own day', async () => {
    const rut = await enterprise();
    await giveCae(db.orm, rut, { expirationDate: '2026-04-10' });
    await giveCae(db.orm, rut, { type: 'EFACTURA', expirationDate: '2026-04-20' });
    await giveCae(db.orm, rut, {
      type: 'ETICKET',
      serie: 'S',
      environment: 'sandbox',
      expirationDate: '2026-04-15',
    });

    const told = await tellAt(
      // Midnight in Montevideo is 3:00.
      new Date('2026-04-11T02:59:59Z'),
      NEXT_NIGHT,
      new Date('2026-04-16T03:05:00Z'),
      new Date('2026-04-21T03:05:00Z'),
    );

    expect(told).toEqual([0, 1, 0, 1]);
    const statuses = (await updatesOf(rut)).map(({ data }) => {
      const { caes } = data['changes'] as Record<string, Record<'from' | 'to', { status: string }[]>>;
      return [caes?.from, caes?.to].map((list) => list?.map(({ status }) => status));
    });
    expect(statuses).toEqual([
      [
        ['OK', 'OK'],
        ['EXPIRED', 'OK'],
      ],
      [
        ['EXPIRED', 'OK'],
        ['EXPIRED', 'EXPIRED'],
      ],
    ]);
  });

  test('several enterprises, more than a page of them, have one event each; one without such papers has none', async () => {
    const ruts = await Promise.all(Array.from({ length: 5 }, enterprise));
    for (const rut of ruts) {
      await giveCae(db.orm, rut, { expirationDate: '2026-04-10' });
      await giveCertificate(db.orm, rut, { notAfter: new Date('2026-04-10T15:00:00Z') });
    }
    const untouched = await enterprise();
    await giveCae(db.orm, untouched, { expirationDate: '2026-04-11' });
    await giveCertificate(db.orm, untouched, { notAfter: new Date('2026-04-11T03:05:00Z') });

    expect(await tellAt(NEXT_NIGHT, NEXT_NIGHT)).toEqual([5, 0]);

    for (const rut of ruts) {
      const events = await changesOf(rut);
      expect(events.map(({ changes }) => Object.keys(changes as object))).toEqual([['certificate', 'caes']]);
    }
    expect(await changesOf(untouched)).toEqual([]);
    expect(await toldAt(untouched)).toBeNull();
    // Not to be found again by the tests after this one.
    expect(await tellAt(new Date('2026-04-30T03:05:00Z'))).toEqual([1]);
  });

  test('two runs at once tell once', async () => {
    const ruts = await Promise.all(Array.from({ length: 3 }, enterprise));
    for (const rut of ruts) await giveCae(db.orm, rut, { expirationDate: '2026-04-10' });
    now = NEXT_NIGHT;

    const both = await withTheActivity(() => Promise.all([run(), run()]));

    expect(both.reduce((sum, told) => sum + told, 0)).toBe(3);
    for (const rut of ruts) expect(await changesOf(rut)).toHaveLength(1);
  });

  test('what changed in between is not told again: a new certificate ends it, another change leaves only the clock', async () => {
    const [renewed, renamed] = [await enterprise(), await enterprise()];
    const notAfter = new Date('2026-04-10T15:00:00Z');
    for (const rut of [renewed, renamed]) await giveCertificate(db.orm, rut, { notAfter });
    const at = new Date('2026-04-10T20:00:00Z');
    await db.orm.em.fork().nativeUpdate(Certificate, { rut: renewed }, { replacedAt: at });
    await giveCertificate(db.orm, renewed, { notAfter: new Date('2028-04-10T15:00:00Z') });
    await db.orm.em.fork().transactional(async (em) => {
      const changing = await lockEnterprise(em, renamed);
      if (!changing) throw new Error('the enterprise is gone');
      await recordEnterpriseChanges(em, changing, at, () => {
        changing.tradeName = 'Otra';
      });
    });

    expect(await tellAt(NEXT_NIGHT)).toEqual([1]);

    expect(await changesOf(renewed)).toEqual([]);
    const fields = (await changesOf(renamed)).map(({ changes }) => Object.keys(changes as object));
    expect(fields).toEqual([['trade_name'], ['certificate']]);
  });
});
