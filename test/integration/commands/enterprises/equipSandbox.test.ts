import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type AuthorityTestKit, equipSandbox } from '../../../../src/commands/enterprises/equipSandbox.ts';
import { anAccount, idleOutbox } from '../../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../../support/database/database.ts';
import { aKeyPair } from '../../../support/database/sealing.ts';
import { anEnterprise, giveCae, giveCertificate } from '../../../support/enterprises/enterprises.ts';

describe('papers for the sandbox', () => {
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

  test('without a kit, and with papers in hand, nothing is fetched', async () => {
    await equip(null, { cfe_type: 'ETICKET' });
    await giveCertificate(db.orm, rut, { environment: 'sandbox' });
    await giveCae(db.orm, rut, { environment: 'sandbox' });
    const { testKit, asked } = brokenKit();
    await equip(testKit, { cfe_type: 'ETICKET' });
    expect(asked).toEqual([]);
  });
});
