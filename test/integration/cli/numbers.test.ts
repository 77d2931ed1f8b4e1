import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Cli, cliOn } from '../../support/cli.ts';
import { anAccount } from '../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.ts';
import { aReadyEnterprise } from '../../support/enterprises/enterprises.ts';

describe('cfe annulment and cfe numbers', () => {
  let db: TestDatabase;
  let cli: Cli;
  let [rut, other] = ['', ''];
  beforeAll(async () => {
    db = await cloneDatabase();
    cli = cliOn(db.urlOf('operator'));
    const accountId = await anAccount(db.orm);
    rut = await aReadyEnterprise(db.orm, accountId, { caes: [{ from: 1, to: 50 }] });
    other = await aReadyEnterprise(db.orm, accountId, {
      caes: [{ type: 'EFACTURA', from: 11, to: 20, last: 12 }],
    });
  });
  afterAll(() => db[Symbol.asyncDispose]());

  const add = (type: string, from: number, to: number) =>
    ['annulment', 'add', rut, '--type', type, '--serie', 'A', '--from', `${from}`, '--to', `${to}`].concat([
      '--reason',
      'en papel',
    ]);

  test('add takes a type by its name or its code, and list tells of both, the latest first', async () => {
    const row = {
      cfe_type: 'ETICKET',
      serie: 'A',
      reason: 'by_hand',
      typed_reason: 'en papel',
      annulled_at: expect.any(String),
    };

    expect(await cli.json(...add('ETICKET', 5, 9))).toEqual([{ ...row, from: 5, to: 9 }]);
    expect(await cli.json(...add('101', 20, 20))).toEqual([{ ...row, from: 20, to: 20 }]);

    expect(await cli.json('annulment', 'list', '--rut', rut)).toMatchObject([
      { ...row, from: 20, to: 20 },
      { ...row, from: 5, to: 9 },
    ]);
    expect(await cli.json('annulment', 'list', '--rut', rut, '--limit', '1')).toHaveLength(1);
    expect(await cli.json('annulment', 'list', '--rut', rut, '--environment', 'sandbox')).toEqual([]);
    expect(await cli.json('annulment', 'list', '--rut', other)).toEqual([]);
  });

  test('add refuses a range that is upside down, as wrong usage, and another type’s', async () => {
    const upsideDown = await cli.call(...add('ETICKET', 9, 5));
    expect(upsideDown).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--to must not be below --from'),
    });
    expect(await cli.refusal(...add('EFACTURA', 30, 31))).toMatchObject({ code: 'INVALID_INPUT' });
  });

  test('reconcile ends with 0 where all numbers are accounted for, and with 1 where one is not, told all the same', async () => {
    const row = {
      environment: 'production',
      serie: 'A',
      authorization_number: expect.any(String),
      issued: 0,
      waiting: 0,
    };
    const rows = [
      { ...row, rut, cfe_type: 'ETICKET', given: 6, annulled: 6, elsewhere: 0 },
      { ...row, rut: other, cfe_type: 'EFACTURA', given: 0, annulled: 0, elsewhere: 2 },
    ].toSorted((a, b) => a.rut.localeCompare(b.rut));
    expect(await cli.json('numbers', 'reconcile')).toEqual(rows);

    await db.orm.em.fork().execute('update cae set last_number = last_number + 1 where rut = ?', [other]);

    const { code, stdout, stderr } = await cli.call('numbers', 'reconcile', '--json');
    expect([code, stderr]).toEqual([1, '']);
    expect(JSON.parse(stdout)).toEqual(
      rows.map((each) => (each.rut === other ? { ...each, given: 1 } : each)),
    );
    expect((await cli.call('numbers', 'reconcile', '--rut', rut)).code).toBe(0);
    expect((await cli.call('numbers', 'reconcile', '--rut', other)).code).toBe(1);
  });
});
