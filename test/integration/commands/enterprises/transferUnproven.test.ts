import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createValidateLogin } from '../../../../src/activities/enterprises/validateLogin.ts';
import { addBranch } from '../../../../src/commands/enterprises/branches.ts';
import {
  createCustomer,
  deleteCustomer,
  updateCustomer,
} from '../../../../src/commands/enterprises/customers.ts';
import { requestCredentialsCheck } from '../../../../src/commands/enterprises/requestCredentialsCheck.ts';
import { transferEnterprise } from '../../../../src/commands/enterprises/transferEnterprise.ts';
import { updateEnterprise } from '../../../../src/commands/enterprises/updateEnterprise.ts';
import { setGrant } from '../../../../src/commands/people/grants.ts';
import { requestExport } from '../../../../src/commands/receipts/exports.ts';
import type { OwnershipDeps } from '../../../../src/commands/steps/ownership.ts';
import { addWebhook, type WebhookCommandDeps } from '../../../../src/commands/webhooks/webhooks.ts';
import { createRequestHash } from '../../../../src/crypto/requestHash.ts';
import { countOwnerData } from '../../../../src/db/enterprises/ownerData.ts';
import { Customer, Enterprise } from '../../../../src/db/entities/enterprises.ts';
import { ReceiptExport } from '../../../../src/db/entities/receipts.ts';
import { Delivery } from '../../../../src/db/entities/webhooks.ts';
import { insertMail, listMailPage } from '../../../../src/db/mail/mails.ts';
import { listAudit } from '../../../../src/db/operations/audit.ts';
import { listPayments } from '../../../../src/db/people/payments.ts';
import { listGrants } from '../../../../src/db/people/roles.ts';
import { findEventBodies } from '../../../../src/db/webhooks/events.ts';
import { anAccount, idleOutbox } from '../../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../../support/database/database.ts';
import { aPepper } from '../../../support/database/pepper.ts';
import { aKeyPair } from '../../../support/database/sealing.ts';
import { customerBody } from '../../../support/enterprises/customers.ts';
import { anEnterprise, giveCae, giveCertificate } from '../../../support/enterprises/enterprises.ts';
import { giveCfes } from '../../../support/mail/receipts.ts';
import { asActivity } from '../../../support/temporal/activityContext.ts';
import { webhookDeps } from '../../../support/webhooks/deliveries.ts';

let db: TestDatabase;
let deps: OwnershipDeps & WebhookCommandDeps;
const reason = 'Poder notarial';
beforeAll(async () => {
  db = await cloneDatabase();
  deps = { ...webhookDeps(db.orm), certificateAuthorities: 'any' };
});
afterAll(() => db[Symbol.asyncDispose]());

const fork = () => db.orm.em.fork();
const stored = (rut: string) => fork().findOneOrFail(Enterprise, { rut });
const ofLogin = () => ({
  sealer: aKeyPair().sealer,
  requestHash: createRequestHash([aPepper()]),
});

/** An enterprise that somebody registered and filled with what is theirs. */
async function aSquat({ proven = false } = {}) {
  const squatter = await anAccount(db.orm);
  const rut = await anEnterprise(db.orm, squatter, { tradeName: null });
  if (proven) await giveCertificate(db.orm, rut);
  const events = ['enterprise.updated'];
  await addWebhook(deps, { accountId: squatter, url: 'https://squatter.example/', events });
  const update = {
    trade_name: 'La trampa',
    phone_number: '29000000',
    email: 'trampa@squatter.example',
    website: 'https://squatter.example/',
    issuer_since: '2020-01-01',
    resolution: '1/2020',
    plan_id: 'STANDARD',
    frequency_id: 'MONTHLY',
  };
  await updateEnterprise({ ...deps, checkoutUrl: 'https://pay.example' }, { rut, update });
  await fork().execute(
    'update enterprise set logo_sha256 = null, scheduled_ready_date = now() where rut = ?',
    [rut],
  );
  await addBranch(deps, {
    rut,
    body: { branch: 7, street_name: 'S', locality_name: 'L', department_name: 'D' },
  });
  for (let n = 0; n < 3; n += 1)
    await createCustomer(deps, {
      rut,
      customer: customerBody({
        notifications: [
          { type: 'EMAIL', destination: `a${n}@squatter.example`, enabled: true },
          { type: 'EMAIL', destination: `b${n}@squatter.example`, enabled: true },
        ],
      }),
    });
  const accomplice = await anAccount(db.orm);
  await setGrant(deps, { accountId: accomplice, rut, role: 'MEMBER' });
  const login = { username: 'a', password: 'b' };
  await requestCredentialsCheck({ ...deps, ...ofLogin() }, { accountId: squatter, rut, login });
  return { squatter, accomplice, rut, owner: await anAccount(db.orm) };
}

test('nothing of the account before is left of an enterprise that no certificate proves; that it is done stands in the audit', async () => {
  const { rut, owner, squatter } = await aSquat();
  const before = await stored(rut);
  expect(await countOwnerData(fork(), before, owner)).toEqual({
    data: [
      'trade_name',
      'phone_number',
      'email',
      'website',
      'issuer_since',
      'resolution',
      'plan_id',
      'frequency_id',
      'scheduled_ready_date',
      'login',
    ],
    customers: 3,
    addresses: 6,
    branches: 1,
    grants: 1,
    payments: 1,
    mails: 0,
    exports: 0,
    deliveries: 2,
  });

  await transferEnterprise(deps, { rut, accountId: owner, reason });

  const after = await stored(rut);
  expect(after).toMatchObject({
    ownerAccountId: owner,
    tradeName: null,
    phoneNumber: null,
    email: null,
    website: null,
    issuerSince: null,
    resolution: null,
    logoSha256: null,
    planId: null,
    frequencyId: null,
    scheduledReadyDate: null,
    sealedLogin: null,
    efacturaStatus: 'NOT_VALIDATED',
    loginStatus: 'NOT_ATTEMPTED',
    permissions: [],
    lastValidatedAt: null,
  });
  const nothing = { customers: 0, addresses: 0, branches: 0, grants: 0, payments: 0, mails: 0, exports: 0 };
  expect(await countOwnerData(fork(), after, owner)).toMatchObject({
    data: [],
    ...nothing,
  });
  expect(await listGrants(fork(), { rut })).toEqual([]);
  expect(await listPayments(fork(), { rut })).toMatchObject([{ status: 'CANCELLED' }]);
  // What the account before still hears is that it has no role any more.
  const deliveries = await fork().find(Delivery, { eventName: 'enterprise.updated', status: 'PENDING' });
  expect(deliveries).toHaveLength(1);
  expect(await listAudit(fork(), { rut, subject: squatter }, 10)).toMatchObject([
    { action: 'enterprise.transfer', accountId: owner, reason },
  ]);
});

test('trials of the account before: e-mails that wait are not sent, files of receipts are gone', async () => {
  const { rut, owner, squatter } = await aSquat();
  await giveCertificate(db.orm, rut, { environment: 'sandbox' });
  await giveCae(db.orm, rut, { environment: 'sandbox' });
  const [trial] = await giveCfes(
    db.orm,
    { accountId: squatter, rut },
    { status: 'ACCEPTED', environment: 'sandbox' },
  );
  if (!trial) throw new Error('no trial');
  await fork().transactional(async (em) => {
    insertMail(em, trial, { kind: 'RECEIPT', destination: 'a@squatter.example', byHand: true }, new Date());
  });
  const id = randomUUID();
  await fork().insert(ReceiptExport, {
    id,
    rut,
    environment: 'sandbox',
    month: '2026-11',
    withPdfs: false,
    actor: 'console:a@example.com',
    state: 'RUNNING',
    total: 1,
    done: 0,
    leftOut: 0,
    entries: 0,
    contentBytes: 0,
    directoryBytes: 0,
    parts: 0,
    lastCfe: null,
    createdAt: new Date(),
    movedAt: new Date(),
    endedAt: null,
  });

  await transferEnterprise(deps, { rut, accountId: owner, reason });

  expect(await listMailPage(fork(), { rut }, { after: null, limit: 10 })).toMatchObject([
    { mail: { status: 'FAILED', error: 'transferred' } },
  ]);
  expect(await fork().findOne(ReceiptExport, { id })).toMatchObject({ state: 'STOPPED' });
});

test('a new owner who had a role hears what the transfer changed, and no delivery of theirs is given up', async () => {
  const { rut, accomplice } = await aSquat();
  const { webhook } = await addWebhook(deps, {
    accountId: accomplice,
    url: 'https://a.example/',
    events: ['enterprise.updated'],
  });
  const update = { trade_name: 'La trampa dos' };
  await updateEnterprise({ ...deps, checkoutUrl: 'https://pay.example' }, { rut, update });

  expect(await transferEnterprise(deps, { rut, accountId: accomplice, reason })).toMatchObject({
    customers: 3,
    deliveries: 3,
  });

  const waiting = await fork().find(Delivery, { webhookId: webhook.id, status: 'PENDING' });
  const bodies = await findEventBodies(
    fork(),
    waiting.map(({ eventId }) => eventId),
  );
  const changed = [...bodies.values()].map((body) => Object.keys(JSON.parse(body).data.changes));
  expect(changed).toHaveLength(3);
  expect(changed).toEqual(
    expect.arrayContaining([
      ['role'],
      ['trade_name'],
      expect.arrayContaining(['trade_name', 'phone_number']),
    ]),
  );
});

test('what a certificate proves keeps its data; only the role of the account before goes', async () => {
  const { rut, owner, accomplice } = await aSquat({ proven: true });

  await transferEnterprise(deps, { rut, accountId: owner, reason });

  expect(await stored(rut)).toMatchObject({
    email: 'trampa@squatter.example',
    planId: 'STANDARD',
    sealedLogin: expect.any(String),
  });
  expect(await fork().count(Customer, { rut })).toBe(3);
  expect(await listGrants(fork(), { rut })).toMatchObject([{ accountId: accomplice }]);
});

test('a certificate that no configured authority issued proves nothing', async () => {
  const { rut, owner } = await aSquat({ proven: true });

  await transferEnterprise({ ...deps, certificateAuthorities: [] }, { rut, accountId: owner, reason });

  expect(await fork().count(Customer, { rut })).toBe(0);
});

test('the check of the login that ran for the account before changes nothing any more', async () => {
  const { rut, owner } = await aSquat();
  const check = createValidateLogin({
    orm: db.orm,
    clock: deps.clock,
    outbox: idleOutbox,
    openLogin: () => null,
    async checkLogin() {
      await transferEnterprise(deps, { rut, accountId: owner, reason });
      return { login: 'success', permissions: ['PROD'], message: '' };
    },
  });

  expect(await asActivity(() => check(rut))).toEqual({ kind: 'nothingToDo' });

  expect(await stored(rut)).toMatchObject({ efacturaStatus: 'NOT_VALIDATED', permissions: [] });
});

test('what the account before adds while it is transferred is gone, or refused', async () => {
  const { rut, owner, squatter } = await aSquat();
  const theirs = { ...deps, actor: `account:${squatter}` as const };
  const added = Array.from({ length: 12 }, () => createCustomer(theirs, { rut, customer: customerBody() }));
  const branches = Array.from({ length: 4 }, (_, n) =>
    addBranch(theirs, {
      rut,
      body: { branch: 20 + n, street_name: 'S', locality_name: 'L', department_name: 'D' },
    }),
  );

  const [outcomes] = await Promise.all([
    Promise.allSettled([...added, ...branches]),
    transferEnterprise(deps, { rut, accountId: owner, reason }),
  ]);

  for (const outcome of outcomes)
    if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'FORBIDDEN' });
  const enterprise = await stored(rut);
  expect(await countOwnerData(fork(), enterprise, owner)).toMatchObject({ customers: 0, branches: 0 });
  await expect(createCustomer(theirs, { rut, customer: customerBody() })).rejects.toMatchObject({
    code: 'FORBIDDEN',
  });
  const customer = customerBody();
  const key = { rut, docType: customer.doc_type, docNumber: customer.doc_number };
  for (const refused of [
    updateCustomer(theirs, { ...key, customer }),
    deleteCustomer(theirs, key),
    requestExport(theirs, { rut, environment: 'production', month: '2026-11', withPdfs: false }),
  ])
    await expect(refused).rejects.toMatchObject({ code: 'FORBIDDEN' });
  await expect(
    updateEnterprise(
      { ...theirs, checkoutUrl: 'https://pay.example' },
      { rut, update: { email: 'trampa@squatter.example' } },
    ),
  ).rejects.toMatchObject({ code: 'FORBIDDEN' });
});
