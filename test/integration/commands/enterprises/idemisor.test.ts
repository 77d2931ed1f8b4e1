import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { setIdemisor } from '../../../../src/commands/enterprises/setIdemisor.ts';
import { nextIdemisor, skipIdemisors, storeLastSlots } from '../../../../src/db/authority/sobres.ts';
import type { Environment } from '../../../../src/domain/receipts/cfeTypes.ts';
import { anAccount, idleOutbox } from '../../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../../support/database/database.ts';
import { anEnterprise } from '../../../support/enterprises/enterprises.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await cloneDatabase();
});
afterAll(() => db[Symbol.asyncDispose]());

const fresh = async () => anEnterprise(db.orm, await anAccount(db.orm));
const take = (rut: string, environment: Environment = 'production', day = '2026-11-28') =>
  db.orm.em.fork().transactional((em) => nextIdemisor(em, { rut, environment }, day));
const set = (rut: string, next: number, environment: Environment = 'production') =>
  setIdemisor(
    { orm: db.orm, clock: () => new Date(), outbox: idleOutbox },
    { rut, environment, next, reason: 'from another system' },
  );

test('the first is that of the day of the first sobre, in each environment; then one after the other', async () => {
  const rut = await fresh();
  expect([
    await take(rut),
    await take(rut, 'production', '2026-12-31'),
    await take(rut, 'sandbox', '2027-01-02'),
  ]).toEqual([2611280001n, 2611280002n, 2701020001n]);
});

test('an enterprise that only had a slot begins there too', async () => {
  const rut = await fresh();
  await storeLastSlots(db.orm.em.fork(), 'production', [{ rut, slot: new Date() }]);
  expect(await take(rut)).toBe(2611280001n);
});

test('an operator sets the next, never at or below one that was used', async () => {
  const rut = await fresh();
  await set(rut, 5_000_000_001);
  expect([await take(rut), await take(rut)]).toEqual([5_000_000_001n, 5_000_000_002n]);
  await expect(set(rut, 5_000_000_002)).rejects.toMatchObject({ code: 'INVALID_INPUT' });
  await set(rut, 5_000_000_003);
  expect(await take(rut)).toBe(5_000_000_003n);
  expect(await take(rut, 'sandbox')).toBe(2611280001n);
});

test('a slip is lowered again, down to what was used or skipped, until a sobre has taken a number from it', async () => {
  const rut = await fresh();
  await set(rut, 9_500_000_001);
  await set(rut, 5_000_000_001);
  expect(await take(rut)).toBe(5_000_000_001n);

  await set(rut, 9_000_000_001);
  await set(rut, 8_000_000_001);
  await expect(set(rut, 5_000_000_001)).rejects.toMatchObject({ code: 'INVALID_INPUT' });
  await set(rut, 5_000_000_002);
  expect(await take(rut)).toBe(5_000_000_002n);

  await set(rut, 6_000_000_001);
  await take(rut);
  await expect(set(rut, 5_000_000_003)).rejects.toMatchObject({ code: 'INVALID_INPUT' });

  // After a restore, what was skipped may be at the authority.
  await set(rut, 7_000_000_001);
  await skipIdemisors(db.orm.em.fork(), { rut, environment: 'production' }, 10);
  await expect(set(rut, 7_000_000_005)).rejects.toMatchObject({ code: 'INVALID_INPUT' });
  await set(rut, 7_000_000_011);
  expect(await take(rut)).toBe(7_000_000_011n);
});

test('lowered while sobres are made, no number is given twice', async () => {
  const rut = await fresh();
  await set(rut, 5_000_000_001);
  const taken: bigint[] = [];
  await Promise.all([
    ...Array.from({ length: 20 }, async () => void taken.push(await take(rut))),
    ...Array.from({ length: 10 }, (_, i) => set(rut, 4_000_000_001 + i).catch(() => undefined)),
  ]);
  expect(new Set(taken).size).toBe(20);
});
