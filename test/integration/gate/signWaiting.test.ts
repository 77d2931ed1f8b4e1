import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { signWaitingCfes } from '../../../src/activities/authority/prepareSobre.ts';
import { UnsealError } from '../../../src/crypto/sealed.ts';
import { Sobre } from '../../../src/db/entities/authority.ts';
import { OutboxMessage } from '../../../src/db/entities/operations.ts';
import { Cfe } from '../../../src/db/entities/receipts.ts';
import { DEADLINES } from '../../../src/domain/authority/deadlines.ts';
import { anAccount, idleGatekeeper, idleOutbox } from '../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.ts';
import { aReadyEnterprise } from '../../support/enterprises/enterprises.ts';
import { aSobreOf, givePendingCfes } from '../../support/receipts/pendingCfes.ts';
import { referTo } from '../../support/receipts/references.ts';

const START = new Date('2026-11-20T12:00:00Z');

let db: TestDatabase;
let now: Date;
let accountId: string;
let rut: string;
let opensKey: boolean;
let signatures: number;
beforeEach(async () => {
  db = await cloneDatabase({ worker: true });
  now = new Date(START.getTime() + 3_600_000);
  opensKey = true;
  signatures = 0;
  accountId = await anAccount(db.orm);
  rut = await aReadyEnterprise(db.orm, accountId, { caes: [{ type: 'ETICKET' }] });
});
afterEach(() => db[Symbol.asyncDispose]());

const cfes = (count: number, from = START) => givePendingCfes(db.orm, { accountId, rut, count, from });
const sign = () =>
  signWaitingCfes({
    orm: db.worker,
    clock: () => now,
    outbox: idleOutbox,
    gatekeeper: idleGatekeeper,
    authorityRut: { production: '214844360018', sandbox: '219999830019' },
    signDocument: () => {
      if (!opensKey) throw new UnsealError('unknown_key', 'no key opens it');
      signatures += 1;
      return { xml: `<CFE>${signatures}</CFE>`, digest: 'eA==' };
    },
  });
const signed = () => db.orm.em.fork().count(Cfe, { digest: { $ne: null } });

test('what waits is signed, the oldest first, a few at a time; also a note whose original has no verdict', async () => {
  const all = await cfes(25);
  const note = all[2];
  await referTo(db.orm.em.fork(), note?.id ?? '', [all[0]?.id ?? ''], { held: true });

  await sign();

  const rows = await db.orm.em.fork().find(Cfe, { digest: { $ne: null } }, { orderBy: { sequence: 'asc' } });
  expect(rows.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
  await sign();
  expect(await signed()).toBe(25);
  await sign();
  expect(signatures).toBe(25);
  expect(await db.orm.em.fork().count(Sobre, {})).toBe(0);
});

test('what is a moment old, or in a sobre, is signed there', async () => {
  await cfes(1, new Date(now.getTime() - 900));
  await aSobreOf(db.orm, await cfes(1));
  await sign();
  expect(await signed()).toBe(0);
});

test('two at once leave each CFE one signature', async () => {
  await cfes(10);
  await Promise.all([sign(), sign()]);
  const rows = await db.orm.em.fork().find(Cfe, {}, { populate: ['signedXml'] });
  const before = new Map(rows.map(({ id, signedXml }) => [id, signedXml]));
  expect(new Set(before.values()).size).toBe(10);
  await sign();
  for (const { id, signedXml } of await db.orm.em.fork().find(Cfe, {}, { populate: ['signedXml'] }))
    expect(signedXml).toBe(before.get(id));
});

test('one that cannot be signed gets a sobre to itself, whose run tells why; the others wait on', async () => {
  const [lost] = await cfes(1);
  opensKey = false;
  await Promise.all([sign(), sign()]);

  const sobres = await db.orm.em.fork().find(Sobre, {});
  // Its slot is long gone: it counts as in progress for nobody.
  const slot = new Date(now.getTime() - DEADLINES.slotUnused);
  expect(sobres).toMatchObject([{ state: 'OPEN', slot }]);
  const [sobre] = sobres;
  const stored = await db.orm.em.fork().findOneOrFail(Cfe, { id: lost?.id ?? '' });
  expect(stored).toMatchObject({ sobreId: sobre?.id, workflowId: sobre?.workflowId, digest: null });
  expect(await db.orm.em.fork().find(OutboxMessage, {})).toMatchObject([
    { workflow: 'issueCfes', workflowId: sobre?.workflowId, input: { sobreId: sobre?.id } },
  ]);
});
