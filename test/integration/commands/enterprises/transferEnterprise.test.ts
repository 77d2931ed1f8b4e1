import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { transferEnterprise } from '../../../../src/commands/enterprises/transferEnterprise.ts';
import { removeGrant, setGrant } from '../../../../src/commands/people/grants.ts';
import type { OwnershipDeps } from '../../../../src/commands/steps/ownership.ts';
import { addWebhook, type WebhookCommandDeps } from '../../../../src/commands/webhooks/webhooks.ts';
import { findEnterprise } from '../../../../src/db/enterprises/enterprises.ts';
import { listAudit } from '../../../../src/db/operations/audit.ts';
import { listGrants } from '../../../../src/db/people/roles.ts';
import { findEventBodies } from '../../../../src/db/webhooks/events.ts';
import { anAccount } from '../../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../../support/database/database.ts';
import { anEnterprise, giveCertificate } from '../../../support/enterprises/enterprises.ts';
import { aRut } from '../../../support/receipts/papers.ts';
import { deliveriesTo, webhookDeps } from '../../../support/webhooks/deliveries.ts';

let db: TestDatabase;
let deps: WebhookCommandDeps & OwnershipDeps;
beforeAll(async () => {
  db = await cloneDatabase();
  // No two acts at one moment: what is told is read in their order.
  let now = Date.now();
  deps = {
    ...webhookDeps(db.orm, { clock: () => new Date((now += 1)) }),
    certificateAuthorities: 'any',
  };
});
afterAll(() => db[Symbol.asyncDispose]());

const reason = 'Poder notarial';
const ownerOf = async (rut: string) => (await findEnterprise(db.orm.em.fork(), rut))?.ownerAccountId;
/** An account, and what its webhook was told of the enterprise. */
async function aListener() {
  const accountId = await anAccount(db.orm);
  const events = ['enterprise.updated'];
  const { webhook } = await addWebhook(deps, { accountId, url: 'https://hooks.example.com/', events });
  const told = async () => {
    const deliveries = await deliveriesTo(db.orm, webhook.id);
    const bodies = await findEventBodies(
      db.orm.em.fork(),
      deliveries.map(({ eventId }) => eventId),
    );
    return deliveries.map(
      ({ eventId }) => (JSON.parse(bodies.get(eventId) ?? '') as { data: { changes: unknown } }).data.changes,
    );
  };
  return { accountId, told };
}

test('the account that is named owns it; the one before has no role; both are told, others are not', async () => {
  const [before, after, member] = [await aListener(), await aListener(), await aListener()];
  const rut = await anEnterprise(db.orm, before.accountId);
  await giveCertificate(db.orm, rut);
  for (const { accountId } of [after, member]) await setGrant(deps, { accountId, rut, role: 'MEMBER' });

  await transferEnterprise(deps, { rut, accountId: after.accountId, reason });

  expect(await ownerOf(rut)).toBe(after.accountId);
  expect(await listGrants(db.orm.em.fork(), { rut })).toMatchObject([{ accountId: member.accountId }]);
  expect(await before.told()).toEqual([{ role: { from: 'OWNER', to: null } }]);
  const asMember = { role: { from: null, to: 'MEMBER' } };
  expect(await after.told()).toEqual([asMember, { role: { from: 'MEMBER', to: 'OWNER' } }]);
  expect(await member.told()).toEqual([asMember]);
  expect(await listAudit(db.orm.em.fork(), { rut, subject: before.accountId }, 10)).toMatchObject([
    { action: 'enterprise.transfer', accountId: after.accountId, reason },
  ]);
});

test('of two transfers at once one follows the other: nobody is told of a role that was not theirs', async () => {
  const [before, one, other] = [await aListener(), await aListener(), await aListener()];
  const rut = await anEnterprise(db.orm, before.accountId);

  await Promise.all(
    [one, other].map(({ accountId }) => transferEnterprise(deps, { rut, accountId, reason })),
  );

  const last = (await ownerOf(rut)) === one.accountId ? one : other;
  const first = last === one ? other : one;
  expect(await before.told()).toHaveLength(1);
  expect(await first.told()).toHaveLength(2);
  expect(await last.told()).toEqual([{ role: { from: null, to: 'OWNER' } }]);
});

test('granted and made the owner at once, an account is the owner and has no role beside that', async () => {
  const before = await anAccount(db.orm);
  for (let round = 0; round < 10; round += 1) {
    const [rut, accountId] = [await anEnterprise(db.orm, before), await anAccount(db.orm)];

    await Promise.all([
      transferEnterprise(deps, { rut, accountId, reason }),
      setGrant(deps, { accountId, rut, role: 'MEMBER' }).catch(() => undefined),
    ]);

    expect(await ownerOf(rut)).toBe(accountId);
    expect(await listGrants(db.orm.em.fork(), { rut })).toEqual([]);
  }
});

test('a role that is granted, changed and taken away is told to whom it belongs, a VIEWER’s too, and to nobody else', async () => {
  const [owner, guest] = [await aListener(), await aListener()];
  const rut = await anEnterprise(db.orm, owner.accountId);
  const { accountId } = guest;

  for (const role of ['VIEWER', 'VIEWER', 'MEMBER'] as const) await setGrant(deps, { accountId, rut, role });
  await removeGrant(deps, { accountId, rut });

  expect(await guest.told()).toEqual([
    { role: { from: null, to: 'VIEWER' } },
    { role: { from: 'VIEWER', to: 'MEMBER' } },
    { role: { from: 'MEMBER', to: null } },
  ]);
  expect(await owner.told()).toEqual([]);
  await expect(removeGrant(deps, { accountId, rut: aRut() })).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

test('an unknown RUT, an unknown account and the owner are refused; nothing is changed', async () => {
  const accountId = await anAccount(db.orm);
  const rut = await anEnterprise(db.orm, accountId);

  for (const [input, code] of [
    [{ rut: aRut(), accountId }, 'NOT_FOUND'],
    [{ rut, accountId: 'nobody' }, 'NOT_FOUND'],
    [{ rut, accountId }, 'INVALID_INPUT'],
  ] as const) {
    await expect(transferEnterprise(deps, { ...input, reason })).rejects.toMatchObject({ code });
  }
  expect(await ownerOf(rut)).toBe(accountId);
});
