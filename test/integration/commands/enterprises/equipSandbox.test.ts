import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type AuthorityTestKit, equipSandbox } from '../../../../src/commands/enterprises/equipSandbox.ts';
import { replaceSandboxCae } from '../../../../src/commands/numbers/sandboxCae.ts';
import { findCaes } from '../../../../src/db/numbers/numbers.ts';
import { anAccount, idleOutbox } from '../../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../../support/database/database.ts';
import { aKeyPair } from '../../../support/database/sealing.ts';
import { anEnterprise, giveCae, giveCertificate } from '../../../support/enterprises/enterprises.ts';

describe('certificate and CAE of the sandbox', () => {
  let db: TestDatabase;
  let rut: string;
  beforeAll(async () => {
    db = await cloneDatabase();
    rut = await anEnterprise(db.orm, await anAccount(db.orm));
  });
  afterAll(() => db[Symbol.asyncDispose]());

  /** A kit that cannot be reached, and what it was asked for. */
  const brokenKit = () => {
    const asked: string[] = [];
    const testKit: AuthorityTestKit = {
      certificate: async () => {
        asked.push('certificate');
        throw new Error('ECONNREFUSED');
      },
      cae: async (_rut, typeCode) => {
        asked.push(`cae ${typeCode}`);
        throw new Error('ECONNREFUSED');
      },
    };
    return { testKit, asked };
  };
  const equip = (testKit: AuthorityTestKit | null, body: unknown) =>
    equipSandbox(
      {
        orm: db.orm,
        clock: () => new Date(),
        outbox: idleOutbox,
        sealer: aKeyPair().sealer,
        testKit,
        certificateAuthorities: [],
      },
      { rut, body },
    );

  test.each([{ cfe_type: 'constructor' }, { cfe_type: 'toString' }, { cfe_type: 101 }, {}, null])(
    'nothing is fetched for a body that names no type: %j',
    async (body) => {
      const { testKit, asked } = brokenKit();
      await equip(testKit, body);
      expect(asked).toEqual([]);
    },
  );

  test('a kit that cannot be reached is UNAVAILABLE, to be tried again', async () => {
    const { testKit } = brokenKit();
    await expect(equip(testKit, { cfe_type: 'ETICKET' })).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      retryAfterSeconds: 5,
    });
  });

  describe('without a file of the operator the CAE is invented', () => {
    const kit: AuthorityTestKit = {
      certificate: async () => {
        throw new Error('it has one');
      },
      cae: async () => null,
    };
    const caesOf = (of: string) => findCaes(db.orm.em.fork(), of, 'sandbox');
    const fresh = async () => {
      const own = await anEnterprise(db.orm, await anAccount(db.orm));
      await giveCertificate(db.orm, own, { environment: 'sandbox', notAfter: new Date('2040-01-01') });
      return own;
    };
    const deps = (now = '2026-11-28T12:00:00Z') => ({
      orm: db.orm,
      clock: () => new Date(now),
      outbox: idleOutbox,
      sealer: aKeyPair().sealer,
      testKit: kit,
      certificateAuthorities: [],
    });
    const byRule = {
      serie: 'A',
      numberStart: 1,
      numberEnd: 9_999_999,
      lastNumber: 0,
      authorizationNumber: '90260001110',
      expirationDate: '2027-12-31',
    };

    test('by the authority’s rule, once however many ask at a time', async () => {
      const own = await fresh();
      await Promise.all(
        Array.from({ length: 5 }, () => equipSandbox(deps(), { rut: own, body: { cfe_type: 'EFACTURA' } })),
      );
      expect(await caesOf(own)).toMatchObject([byRule]);
    });

    test('after its end another serie begins, so that no number returns', async () => {
      const own = await fresh();
      await equipSandbox(deps(), { rut: own, body: { cfe_type: 'EFACTURA' } });
      await db.orm.em.fork().execute(`update cae set last_number = 7 where rut = ?`, [own]);
      await equipSandbox(deps('2028-01-03T12:00:00Z'), { rut: own, body: { cfe_type: 'EFACTURA' } });
      expect((await caesOf(own)).at(1)).toMatchObject({
        serie: 'B',
        authorizationNumber: '90280001110',
        expirationDate: '2029-12-31',
      });
    });

    test('after its end the file that an operator gave since is not asked for: its range may hold used numbers', async () => {
      const own = await fresh();
      await equipSandbox(deps(), { rut: own, body: { cfe_type: 'EFACTURA' } });
      const withFile = { ...deps('2028-01-03T12:00:00Z'), testKit: brokenKit().testKit };
      await equipSandbox(withFile, { rut: own, body: { cfe_type: 'EFACTURA' } });
      expect(await caesOf(own)).toMatchObject([{ serie: 'A' }, { serie: 'B' }]);
    });

    test('the operator’s own replaces it for later numbers; used ones are never given again', async () => {
      const own = await fresh();
      const later = deps('2026-11-28T12:00:01Z');
      const replace = (more: object) => replaceSandboxCae(later, { rut: own, type: 'EFACTURA', own: more });
      await equipSandbox(deps(), { rut: own, body: { cfe_type: 'EFACTURA' } });
      await db.orm.em.fork().execute(`update cae set last_number = 7 where rut = ?`, [own]);
      expect(await replace({ numberEnd: 20 })).toMatchObject({ numberStart: 8, numberEnd: 20, serie: 'A' });
      expect(await replace({ serie: 'B', authorizationNumber: '90260009999' })).toMatchObject({
        numberStart: 1,
        authorizationNumber: '90260009999',
      });
      await expect(replace({ numberEnd: 7 })).rejects.toMatchObject({ faults: [{ code: 'cae.none_left' }] });
      await expect(replace({ numberStart: 9, numberEnd: 8 })).rejects.toMatchObject({
        faults: [{ code: 'cae.range' }],
      });
      await expect(replace({ expirationDate: '2026-11-27' })).rejects.toMatchObject({
        faults: [{ code: 'cae.expired' }],
      });
      // What a refused one asked for changed nothing.
      expect(
        (await caesOf(own)).map(({ serie, numberStart, numberEnd }) => [serie, numberStart, numberEnd]),
      ).toEqual([
        ['A', 1, 7],
        ['B', 1, 9_999_999],
      ]);
    });

    test('a used up one is left to the operator', async () => {
      const own = await fresh();
      await replaceSandboxCae(deps(), { rut: own, type: 'EFACTURA', own: { numberEnd: 1 } });
      await db.orm.em.fork().execute(`update cae set last_number = 1 where rut = ?`, [own]);
      await equipSandbox(deps(), { rut: own, body: { cfe_type: 'EFACTURA' } });
      expect(await caesOf(own)).toHaveLength(1);
    });
  });

  test('without a kit, and with papers in hand, nothing is fetched', async () => {
    await equip(null, { cfe_type: 'ETICKET' });
    await giveCertificate(db.orm, rut, { environment: 'sandbox' });
    await giveCae(db.orm, rut, { environment: 'sandbox' });
    const { testKit, asked } = brokenKit();
    await equip(testKit, { cfe_type: 'ETICKET' });
    expect(asked).toEqual([]);
  });
});
