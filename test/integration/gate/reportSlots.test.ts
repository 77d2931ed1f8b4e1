import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { lockEndpoint } from '../../../src/db/authority/authorityEndpoints.ts';
import { Sobre } from '../../../src/db/entities/authority.ts';
import { Cfe } from '../../../src/db/entities/receipts.ts';
import { FAILURES_TO_OPEN } from '../../../src/domain/authority/breaker.ts';
import { createGatekeeper } from '../../../src/gate/gatekeeper.ts';
import { createReportSlots, type ReportSlots } from '../../../src/gate/reportSlots.ts';
import { createLogger } from '../../../src/logger.ts';
import { anAccount, idleOutbox } from '../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.ts';
import { aReadyEnterprise } from '../../support/enterprises/enterprises.ts';
import { aSobreOf, givePendingCfes } from '../../support/receipts/pendingCfes.ts';

const START = new Date('2026-11-20T05:00:00Z');
const PER_SECOND = 10;

let db: TestDatabase;
let now: Date;
let slots: ReportSlots;
const clock = () => now;
const take = (isUrgent = false) => slots.take('production', { isUrgent });
async function aCfe() {
  const accountId = await anAccount(db.orm);
  const rut = await aReadyEnterprise(db.orm, accountId, { caes: [{ type: 'ETICKET' }] });
  const [cfe] = await givePendingCfes(db.orm, { accountId, rut, count: 1, from: START });
  if (!cfe) throw new Error('no CFE');
  return cfe;
}
beforeEach(async () => {
  db = await cloneDatabase({ worker: true });
  now = START;
  slots = createReportSlots({ orm: db.worker, sendsPerSecond: PER_SECOND, clock });
});
afterEach(() => db[Symbol.asyncDispose]());

test('a night of reports goes at the rate that CFEs have, and takes none far ahead', async () => {
  const waits = [await take(), await take(), await take()];
  expect(waits).toEqual([{ waitMilliseconds: 0 }, { waitMilliseconds: 100 }, { waitMilliseconds: 200 }]);
  // Slots further ahead stay free for a CFE that comes now.
  expect(await take()).toBe('cfesFirst');
  const cfe = await aCfe();
  await createGatekeeper({
    orm: db.worker,
    clock,
    outbox: idleOutbox,
    logger: createLogger({ name: 'test', level: 'silent' }),
    sendsPerSecond: PER_SECOND,
    sobreMost: 100,
  }).look();
  const { slot } = await db.orm.em.fork().findOneOrFail(Sobre, { rut: cfe.rut });
  expect(slot).toEqual(new Date(START.getTime() + 300));
});

test.each([
  ['CFEs that wait', async () => void (await aCfe())],
  ['a sobre that waits', async () => void (await aSobreOf(db.orm, [await aCfe()], { slot: null }))],
])('a report goes behind %s, unless it is urgent', async (_, wait) => {
  await wait();
  expect(await take()).toBe('cfesFirst');
  expect(await take(true)).toEqual({ waitMilliseconds: 0 });
});

test('a note that waits for the verdict on its original holds up no report', async () => {
  const { id } = await aCfe();
  await db.orm.em.fork().nativeUpdate(Cfe, { id }, { held: true });
  expect(await take()).toEqual({ waitMilliseconds: 0 });
});

test('while the authority is away no slot is taken: the breaker says who may try it', async () => {
  await db.orm.em.fork().transactional(async (em) => {
    const endpoint = await lockEndpoint(em, 'production/reception', clock);
    for (let i = 0; i < FAILURES_TO_OPEN; i += 1) endpoint.countFailure({ wasProbe: false, chance: 0 });
  });
  expect([await take(), await take()]).toEqual([{ waitMilliseconds: 0 }, { waitMilliseconds: 0 }]);
});
