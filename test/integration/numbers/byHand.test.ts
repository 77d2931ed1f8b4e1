import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { annulNumbers } from '../../../src/commands/numbers/annulNumbers.ts';
import { skipNumbers } from '../../../src/commands/numbers/skipNumbers.ts';
import { issueCfe } from '../../../src/commands/receipts/issueCfe.ts';
import {
  findCaes,
  isAccountedFor,
  listAnnulments,
  reconcileNumbers,
} from '../../../src/db/numbers/numbers.ts';
import { listAudit } from '../../../src/db/operations/audit.ts';
import type { Environment } from '../../../src/domain/receipts/cfeTypes.ts';
import { anAccount } from '../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.ts';
import { aReadyEnterprise, type CaeRowWishes, giveCae } from '../../support/enterprises/enterprises.ts';
import { aCfeBody } from '../../support/receipts/cfeBodies.ts';
import { fromJson } from '../../support/receipts/exactJson.ts';
import { aRut } from '../../support/receipts/papers.ts';
import { webhookDeps } from '../../support/webhooks/deliveries.ts';

/** Late on a day in Montevideo, when UTC is a day further. */
const NOW = new Date('2026-11-10T23:30:00-03:00');

let db: TestDatabase;
let accountId: string;
beforeAll(async () => {
  db = await cloneDatabase();
  accountId = await anAccount(db.orm);
});
afterAll(() => db[Symbol.asyncDispose]());

const enterprise = (...caes: CaeRowWishes[]) => aReadyEnterprise(db.orm, accountId, { caes });
const deps = () => ({ ...webhookDeps(db.orm), clock: () => NOW, actor: 'cli:ana' as const });
const issue = (rut: string) =>
  issueCfe(deps(), {
    accountId,
    rut,
    environment: 'production',
    body: fromJson(JSON.stringify(aCfeBody({ emissionDate: '2026-11-10' }))),
  });
const annul = (
  rut: string,
  from: number,
  to: number,
  more: { environment?: Environment; serie?: string } = {},
) =>
  annulNumbers(deps(), {
    rut,
    environment: 'production',
    type: 'ETICKET',
    serie: 'A',
    from,
    to,
    reason: 'printed on paper',
    ...more,
  });
const numbersOf = async (rut: string) => (await reconcileNumbers(db.orm.em.fork(), { rut }))[0];

describe('annulled by hand', () => {
  test('numbers ahead are never given: numbering passes over them, to the end of the CAE', async () => {
    const rut = await enterprise({ from: 1, to: 10 });
    await issue(rut);
    await annul(rut, 3, 4);
    await annul(rut, 5, 5);
    await annul(rut, 8, 10);

    const given = [await issue(rut), await issue(rut), await issue(rut)].map(({ numero }) => numero);

    expect(given).toEqual([2, 6, 7]);
    await expect(issue(rut)).rejects.toMatchObject({ faults: [{ code: 'cae.none_left' }] });
    expect(await findCaes(db.orm.em.fork(), rut, 'production')).toMatchObject([
      { lastNumber: 7, numbersLeft: 0 },
    ]);
    expect(await numbersOf(rut)).toMatchObject({
      given: 10,
      issued: 0,
      annulled: 6,
      waiting: 4,
      elsewhere: 0,
    });
  });

  test('stands as rows of today in Montevideo, and in the audit with who and why', async () => {
    const rut = await enterprise({ from: 1, to: 100 });

    const annulled = await annul(rut, 7, 9);

    expect(annulled).toMatchObject([
      {
        rut,
        environment: 'production',
        type: 'ETICKET',
        serie: 'A',
        fromNumber: 7,
        toNumber: 9,
        reason: 'by_hand',
        reportDate: '2026-11-10',
        annulledAt: NOW,
        cfeUuid: null,
      },
    ]);
    const listed = await listAnnulments(
      db.orm.em.fork(),
      { rut, environment: 'production', isOperator: true },
      { after: null, limit: 100 },
    );
    expect(listed.map(({ id, typedReason }) => [id, typedReason])).toEqual(
      annulled.map(({ id }) => [String(id), 'printed on paper']),
    );
    const toMembers = await listAnnulments(
      db.orm.em.fork(),
      { rut, isOperator: false },
      { after: null, limit: 100 },
    );
    expect(toMembers.map(({ typedReason }) => typedReason)).toEqual([null]);
    expect(await listAudit(db.orm.em.fork(), { rut }, 10)).toMatchObject([
      {
        actor: 'cli:ana',
        action: 'annulment.add',
        subject: annulled[0]?.caeId,
        reason: 'ETICKET A 7 to 9: printed on paper',
      },
    ]);
  });

  test('the next CAE gives where one has nothing but annulled numbers', async () => {
    const rut = await enterprise({ from: 1, to: 3 });
    await giveCae(db.orm, rut, { serie: 'B', from: 50, to: 60 });
    await annul(rut, 1, 3);

    expect(await issue(rut)).toMatchObject({ serie: 'B', numero: 50 });
  });

  test.each<[string, [from: number, to: number], { serie?: string; environment?: Environment }, string]>([
    ['given ones', [2, 5], {}, 'A 3 and below were used or skipped'],
    ['some that are annulled already', [6, 12], {}, 'A 10 to 11 are already annulled.'],
    ['some beyond the CAE', [15, 21], {}, 'no CAE of type ETICKET that holds A 15 to 21'],
    ['those of another serie', [15, 16], { serie: 'B' }, 'no CAE of type ETICKET that holds B 15 to 16'],
    ['those of the other environment', [15, 16], { environment: 'sandbox' }, 'no CAE of type ETICKET'],
  ])('refuses %s, and nothing happens', async (_, [from, to], more, message) => {
    const rut = await enterprise({ from: 1, to: 20, last: 3 });
    await annul(rut, 10, 11);

    await expect(annul(rut, from, to, more)).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringContaining(message),
    });
    expect(await numbersOf(rut)).toMatchObject({ given: 2, annulled: 2, elsewhere: 3 });
    expect(await issue(rut)).toMatchObject({ numero: 4 });
  });

  test('refuses an enterprise that is not registered', async () => {
    await expect(annul(aRut(), 1, 2)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  test('while numbers are taken: each is given or annulled, never both, never neither', async () => {
    const rut = await enterprise({ from: 1, to: 400 });
    const ranges = [5, 20, 40, 60, 80, 100].map((from) => [from, from + 6] as const);

    const taking = Promise.all(Array.from({ length: 120 }, () => issue(rut)));
    const annulling = Promise.allSettled(ranges.map(([from, to]) => annul(rut, from, to)));
    const [taken, annulments] = [await taking, await annulling];

    const annulled = new Set(
      (
        await listAnnulments(
          db.orm.em.fork(),
          { rut, environment: 'production', isOperator: true },
          { after: null, limit: 100 },
        )
      ).flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, i) => from + i)),
    );
    const done = annulments.filter(({ status }) => status === 'fulfilled').length;
    expect(annulled.size).toBe(done * 7);
    const given = taken.map(({ numero }) => numero).toSorted((a, b) => a - b);
    const expected = Array.from({ length: 400 }, (_, i) => i + 1).filter((number) => !annulled.has(number));
    expect(given).toEqual(expected.slice(0, 120));
    // Whoever came too late was told so.
    for (const each of annulments)
      if (each.status === 'rejected')
        expect(each.reason).toMatchObject({ message: expect.stringContaining('were used or skipped') });
    expect(await numbersOf(rut)).toMatchObject({
      given: 120 + annulled.size,
      annulled: annulled.size,
      waiting: 120,
    });
  });

  test('the table refuses to give an annulled number', async () => {
    const rut = await enterprise({ from: 1, to: 20 });
    await annul(rut, 1, 2);

    const giving = 'update cae set last_number = last_number + 1 where rut = ?';
    await expect(db.orm.em.fork().execute(giving, [rut])).rejects.toMatchObject({
      code: '23514',
      table: 'cae',
    });
  });
});

describe('a recovery', () => {
  const skip = (rut: string, to: number) =>
    skipNumbers(
      { ...deps(), askAuthority: async () => undefined },
      { rut, environment: 'production', type: 'ETICKET', to, reason: 'restored to 14:05', dryRun: false },
    );

  test('skips numbers that are then elsewhere, and leaves the annulled ones annulled', async () => {
    const rut = await enterprise({ from: 1, to: 20 });
    await issue(rut);
    await annul(rut, 4, 5);

    expect((await skip(rut, 7)).map(({ numero }) => numero)).toEqual([2, 3, 6, 7]);

    expect(await issue(rut)).toMatchObject({ numero: 8, sequence: 6 });
    expect(await numbersOf(rut)).toMatchObject({ given: 4, annulled: 2, waiting: 2, elsewhere: 4 });
  });

  test('does not end at a number that is annulled', async () => {
    const rut = await enterprise({ from: 1, to: 20 });
    await annul(rut, 4, 5);

    await expect(skip(rut, 4)).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringContaining('A 4 is annulled'),
    });
  });
});

describe('the proof', () => {
  const unaccountedOf = async (rut: string) =>
    (await reconcileNumbers(db.orm.em.fork(), { rut })).filter((cae) => !isAccountedFor(cae));

  test('shows an annulment and a CFE that are lost', async () => {
    const rut = await enterprise({ from: 5, to: 40, last: 9 });
    const { id } = await issue(rut);
    await issue(rut);
    await annul(rut, 20, 29);
    expect(await numbersOf(rut)).toMatchObject({
      given: 12,
      issued: 0,
      annulled: 10,
      waiting: 2,
      elsewhere: 5,
    });
    expect(await unaccountedOf(rut)).toEqual([]);

    await db.asOwner(`delete from sobre_cfe where cfe_uuid = '${id}'`, `delete from cfe where id = '${id}'`);
    expect(await unaccountedOf(rut)).toMatchObject([{ rut, given: 12, annulled: 10, waiting: 1 }]);

    await db.asOwner(`delete from annulment where rut = '${rut}'`);
    expect(await unaccountedOf(rut)).toMatchObject([{ given: 12, issued: 0, annulled: 0, waiting: 1 }]);
  });

  test.each([
    ['ACCEPTED', [], { issued: 1 }],
    ['OBSERVED', ['C03'], { issued: 1 }],
    ['REJECTED', ['E05'], { annulled: 1 }],
    ['REJECTED', ['E06'], { waiting: 1 }],
    ['REJECTED', ['E09'], { waiting: 1 }],
    ['REJECTED', ['E02'], { elsewhere: 1 }],
    ['REJECTED', ['abandoned'], { annulled: 1 }],
    ['REJECTED', ['abandoned', 'duplicate.not_ours'], { elsewhere: 1 }],
    ['RECEIVED', [], { waiting: 1 }],
    ['PENDING', [], { waiting: 1 }],
  ])('%s %j', async (status, codes, expected) => {
    const rut = await enterprise({ from: 1, to: 40 });
    const { id } = await issue(rut);
    const isOpen = status === 'PENDING' || status === 'RECEIVED';
    await db.orm.em
      .fork()
      .execute('update cfe set status = ?, rejection = ?::jsonb, settled_at = ? where id = ?', [
        status,
        JSON.stringify(codes.map((code) => ({ code }))),
        isOpen ? null : NOW,
        id,
      ]);

    const given = 'elsewhere' in expected ? 0 : 1;
    expect(await reconcileNumbers(db.orm.em.fork(), { rut })).toMatchObject([
      {
        rut,
        environment: 'production',
        type: 'ETICKET',
        serie: 'A',
        given,
        issued: 0,
        annulled: 0,
        waiting: 0,
        elsewhere: 0,
        ...expected,
      },
    ]);
  });
});
