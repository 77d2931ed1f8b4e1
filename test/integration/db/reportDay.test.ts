import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { MOST_LISTED, readReportDay } from '../../../src/db/reports/reportDay.ts';
import { writeCfe } from '../../../src/dgi/xml/cfe.ts';
import { writeReport } from '../../../src/dgi/xml/report.ts';
import type { CfeDocument } from '../../../src/domain/receipts/cfeDocument.ts';
import type { CfeStatus } from '../../../src/domain/receipts/cfeStatus.ts';
import { CFE_TYPE_NAMES, CFE_TYPES } from '../../../src/domain/receipts/cfeTypes.ts';
import { anAccount } from '../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.ts';
import { aReadyEnterprise } from '../../support/enterprises/enterprises.ts';
import { plainReport, readReport } from '../../support/reports/plainReport.ts';
import { aReceipt } from '../../support/reports/receipts.ts';
import { storeCfes } from '../../support/reports/stored.ts';

const DATE = '2026-03-10';
const SIGNED_ON = '2026-03-11';
/** After the day, in Montevideo. */
const SETTLED = new Date('2026-03-11T00:30:00-03:00');

let db: TestDatabase;
let accountId: string;
let rut: string;
beforeAll(async () => {
  db = await cloneDatabase();
  accountId = await anAccount(db.orm);
});
beforeEach(async () => {
  rut = await aReadyEnterprise(db.orm, accountId);
});
afterAll(() => db[Symbol.asyncDispose]());

const store = (cfes: Parameters<typeof storeCfes>[2], environment?: 'sandbox') =>
  storeCfes(db.orm, { accountId, rut, settledAt: SETTLED, ...(environment && { environment }) }, cfes);
const read = (date = DATE) => readReportDay(db.orm.em, { rut, environment: 'production', date });
const numbersOf = async (date = DATE) => {
  const { sums } = await read(date);
  const { types } = sums.close({ signedOn: SIGNED_ON, rateOf: () => null });
  return types.map(({ type, usedRanges, annulledRanges }) => ({ type, usedRanges, annulledRanges }));
};
const range = (from: number, to = from) => ({ serie: 'A', from, to });
const ticket = (numero: number, signedAt = `${DATE}T12:00:00-03:00`): CfeDocument => ({
  ...aReceipt('ETICKET', numero, { exempt: '10.00', total: '10.00', pay: '10.00' }),
  signedAt,
});

describe('the day of an enterprise', () => {
  test('of nine types in three currencies from two branches, with rejections and a hole, is what its XML says', async () => {
    const currencies = [
      { currency: 'UYU', exchangeRate: '1.000' },
      { currency: 'USD', exchangeRate: '41.478' },
      { currency: 'EUR', exchangeRate: '45.123' },
    ] as const;
    const documents = CFE_TYPE_NAMES.flatMap((type, at) =>
      currencies.flatMap((money, index) =>
        [1, 7].flatMap((branch) =>
          [DATE, '2026-03-08', '2026-03-12'].map((emissionDate, day) => {
            const numero = 1 + index * 20 + branch * 2 + day * 70 + at;
            const amounts =
              CFE_TYPES[type].family === 'export'
                ? { exported: `${numero * 33}.37`, total: `${numero * 33}.37` }
                : {
                    exempt: `${numero}.01`,
                    minimumNet: `${numero * 7}.13`,
                    minimumVat: `${numero}.33`,
                    basicNet: `${numero * 501}.99`,
                    basicVat: `${numero * 110}.44`,
                    total: `${numero * 620}.90`,
                  };
            return aReceipt(
              type,
              numero,
              { ...money, ...amounts, pay: amounts.total },
              { branch, emissionDate },
            );
          }),
        ),
      ),
    );
    const fateOf = (index: number): { status: CfeStatus; codes?: string[] } =>
      index % 7 === 3
        ? { status: 'REJECTED', codes: ['E05'] }
        : { status: index % 5 === 0 ? 'OBSERVED' : 'ACCEPTED' };
    await store(documents.map((document, index) => ({ document, ...fateOf(index) })));
    const quotations = new Map([
      ['USD 2026-03-09', '38.5127431'],
      ['EUR 2026-03-09', '44.9'],
      ['USD 2026-03-07', '38.1'],
    ]);

    const { sums, waitsFor } = await read();
    const summary = sums.close({
      signedOn: SIGNED_ON,
      rateOf: ({ currency, date }) => quotations.get(`${currency} ${date}`) ?? null,
    });

    expect(waitsFor).toEqual({ verdicts: 0, undecided: 0, first: [] });
    const fates = documents.map((document, index) => ({ document, ...fateOf(index) }));
    const heading = { rut, date: DATE, idEmisor: 1, sequence: 1, signedAt: `${SIGNED_ON}T02:00:00-03:00` };
    expect(readReport(writeReport(heading, summary))).toEqual(
      plainReport({
        issued: fates.filter(({ status }) => status !== 'REJECTED').map(({ document }) => writeCfe(document)),
        annulled: fates
          .filter(({ status }) => status === 'REJECTED')
          .map(({ document: { type, serie, numero } }) => `${CFE_TYPES[type].code} ${serie} ${numero}`),
        signedOn: SIGNED_ON,
        quotations,
        uiOf: () => '6.4208',
      }),
    );
    expect(sums.wantedRates(SIGNED_ON)).toEqual([
      { currency: 'EUR', date: '2026-03-07' },
      { currency: 'EUR', date: '2026-03-09' },
      { currency: 'USD', date: '2026-03-07' },
      { currency: 'USD', date: '2026-03-09' },
    ]);
  });

  test('is that of the moment of signing in Montevideo, whatever the dates of emission and of the verdict', async () => {
    await store([
      { document: ticket(1, '2026-03-09T23:59:59-03:00'), status: 'ACCEPTED' },
      { document: ticket(2, '2026-03-10T00:00:00-03:00'), status: 'ACCEPTED' },
      { document: ticket(3, '2026-03-10T23:59:59-03:00'), status: 'ACCEPTED' },
      { document: ticket(4, '2026-03-11T00:00:00-03:00'), status: 'ACCEPTED' },
    ]);

    expect(await numbersOf()).toEqual([{ type: 'ETICKET', usedRanges: [range(2, 3)], annulledRanges: [] }]);
  });

  test('of a CFE that was signed anew is the day of its last signature', async () => {
    await store([{ document: ticket(1), status: 'ACCEPTED' }]);
    await db.orm.em
      .fork()
      .execute(
        `update cfe set document = jsonb_set(document, '{signedAt}', '"2026-03-12T09:00:00-03:00"') where rut = ?`,
        [rut],
      );

    expect(await numbersOf()).toEqual([]);
    expect(await numbersOf('2026-03-12')).toMatchObject([{ usedRanges: [range(1)] }]);
  });

  test('takes nothing from another enterprise, another environment or another day of annulment', async () => {
    await store([{ document: ticket(1), status: 'ACCEPTED' }], 'sandbox');
    // Never signed: annulled on the day of the decision.
    await store([{ document: ticket(2), status: 'REJECTED', codes: ['abandoned'], signed: false }]);
    const own = rut;
    rut = await aReadyEnterprise(db.orm, accountId);
    await store([{ document: ticket(3), status: 'ACCEPTED' }]);
    rut = own;

    expect(await numbersOf()).toEqual([]);
    expect(await numbersOf('2026-03-11')).toEqual([
      { type: 'ETICKET', usedRanges: [range(2)], annulledRanges: [range(2)] },
    ]);
  });

  test('leaves out what has no fate yet, and tells it', async () => {
    await store([
      { document: ticket(1), status: 'ACCEPTED' },
      { document: ticket(2), status: 'PENDING' },
      { document: ticket(3), status: 'RECEIVED' },
      { document: ticket(4), status: 'REJECTED', codes: ['E06'] },
      // Numbers that are nobody's or may be used again.
      { document: ticket(5), status: 'REJECTED', codes: ['E02'] },
      { document: ticket(6), status: 'REJECTED', codes: ['E09'] },
      { document: ticket(7), status: 'PENDING', signed: false },
    ]);

    const { waitsFor } = await read();
    expect(waitsFor).toMatchObject({ verdicts: 3, undecided: 1 });
    expect(waitsFor.first.toSorted((a, b) => a.numero - b.numero)).toEqual([
      { cfeId: '101-2', type: 'ETICKET', serie: 'A', numero: 2, why: 'verdict' },
      { cfeId: '101-3', type: 'ETICKET', serie: 'A', numero: 3, why: 'verdict' },
      { cfeId: '101-4', type: 'ETICKET', serie: 'A', numero: 4, why: 'E06' },
      { cfeId: '101-7', type: 'ETICKET', serie: 'A', numero: 7, why: 'verdict' },
    ]);
    expect(await numbersOf()).toEqual([{ type: 'ETICKET', usedRanges: [range(1)], annulledRanges: [] }]);
  });

  test('counts a number refused for E06 as annulled once that is decided', async () => {
    await store([{ document: ticket(4), status: 'REJECTED', codes: ['E06'] }]);
    await db.orm.em.fork().execute(
      `insert into annulment (rut, environment, type, serie, from_number, to_number, reason, report_date, annulled_at,
         cae_id, cfe_uuid)
       select rut, environment, type, serie, numero, numero, 'rejected', ?, now(), cae_id, id from cfe where rut = ?`,
      [DATE, rut],
    );

    expect((await read()).waitsFor).toEqual({ verdicts: 0, undecided: 0, first: [] });
    expect(await numbersOf()).toEqual([
      { type: 'ETICKET', usedRanges: [range(4)], annulledRanges: [range(4)] },
    ]);
  });

  test('has the rest of an expired CAE as one range, in a type of which nothing was issued', async () => {
    await db.orm.em.fork().execute(
      `insert into annulment (rut, environment, type, serie, from_number, to_number, reason, report_date, annulled_at, cae_id)
       select rut, environment, type, serie, 100, 10000, 'cae.expired', ?, now(), id from cae
       where rut = ? and type = 'EFACTURA'`,
      [DATE, rut],
    );

    const { sums } = await read();
    expect(sums.close({ signedOn: SIGNED_ON, rateOf: () => null })).toMatchObject({
      used: 9901,
      types: [{ type: 'EFACTURA', used: 9901, annulled: 9901, issued: 0, rows: [] }],
    });
  });

  test('of many is read in parts, and tells only the first that it waits for', async () => {
    const count = 2_500;
    await store(
      Array.from({ length: count }, (_, index) => ({
        document: ticket(index + 1),
        status: index < 2_300 ? 'ACCEPTED' : 'PENDING',
      })),
    );

    expect((await read()).waitsFor).toMatchObject({ verdicts: 200, undecided: 0 });
    expect((await read()).waitsFor.first).toHaveLength(MOST_LISTED);
    expect(await numbersOf()).toEqual([
      { type: 'ETICKET', usedRanges: [range(1, 2_300)], annulledRanges: [] },
    ]);
  });

  test('is read at one moment, though verdicts come while it is read', async () => {
    const count = 1_500;
    await store(
      Array.from({ length: count }, (_, index) => ({ document: ticket(index + 1), status: 'PENDING' })),
    );
    const enough = new AbortController();
    const verdicts = (async () => {
      for (let numero = 1; !enough.signal.aborted && numero <= count; numero += 1) {
        const codes = numero % 2 ? '[{"code":"E05"}]' : null;
        await db.orm.em
          .fork()
          .execute(
            `update cfe set status = ?, rejection = ?::jsonb, settled_at = now() where rut = ? and numero = ?`,
            [codes ? 'REJECTED' : 'ACCEPTED', codes, rut, numero],
          );
      }
    })();
    try {
      for (let look = 0; look < 10; look += 1) {
        const { sums, waitsFor } = await read();
        const { used } = sums.close({ signedOn: SIGNED_ON, rateOf: () => null });
        expect(used + waitsFor.verdicts).toBe(count);
      }
    } finally {
      enough.abort();
      await verdicts;
    }
  });

  test('is found by its index', async () => {
    const plan = await db.orm.em.fork().transactional(async (em) => {
      await em.execute('set local enable_seqscan = off');
      return em.execute<Record<string, string>[]>(
        `explain select 1 from cfe where rut = ? and environment = 'production' and left(document ->> 'signedAt', 10) = ?`,
        [rut, DATE],
      );
    });
    expect(JSON.stringify(plan)).toContain('cfe_signing_day');
  });
});
