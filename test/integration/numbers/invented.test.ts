import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createRecordExpiries } from '../../../src/activities/enterprises/recordExpiries.ts';
import { addAuthorityCertificates } from '../../../src/commands/authority/addAuthorityCertificates.ts';
import { annulNumbers } from '../../../src/commands/numbers/annulNumbers.ts';
import { replaceSandboxCae } from '../../../src/commands/numbers/sandboxCae.ts';
import { uploadCae } from '../../../src/commands/numbers/uploadCae.ts';
import { issueCfe } from '../../../src/commands/receipts/issueCfe.ts';
import {
  findCaeOfSpan,
  findCaes,
  isAccountedFor,
  listAnnulments,
  reconcileNumbers,
} from '../../../src/db/numbers/numbers.ts';
import { anAccount } from '../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.ts';
import { aReadyEnterprise, giveCertificate } from '../../support/enterprises/enterprises.ts';
import { aCfeBody } from '../../support/receipts/cfeBodies.ts';
import { fromJson } from '../../support/receipts/exactJson.ts';
import { AUTHORITY_RUT_VARIABLES, anAuthority } from '../../support/receipts/papers.ts';
import { asActivity } from '../../support/temporal/activityContext.ts';
import { webhookDeps } from '../../support/webhooks/deliveries.ts';

const authority = anAuthority('of the sandbox', { rut: AUTHORITY_RUT_VARIABLES.sandbox });
let db: TestDatabase;
let accountId: string;
beforeAll(async () => {
  db = await cloneDatabase({ worker: true });
  accountId = await anAccount(db.orm);
  await addAuthorityCertificates(
    { ...deps(), authorityRuts: AUTHORITY_RUT_VARIABLES },
    { pem: authority.certificatePem },
  );
});
afterAll(() => db[Symbol.asyncDispose]());

const deps = () => ({ ...webhookDeps(db.orm), clock: () => new Date() });
const enterprise = async () => {
  const rut = await aReadyEnterprise(db.orm, accountId);
  await giveCertificate(db.orm, rut, { environment: 'sandbox' });
  return rut;
};
const invent = (rut: string, own: Parameters<typeof replaceSandboxCae>[1]['own'] = {}) =>
  replaceSandboxCae(deps(), { rut, type: 'ETICKET', own });
const upload = (rut: string, startNumber: number, range: { from: number; to: number }) =>
  uploadCae(deps(), {
    rut,
    file: Buffer.from(authority.caeXml({ rut, ...range })),
    startNumber,
    environment: 'sandbox',
  });
/** Issues in the sandbox; returns serie and numbers. */
const issue = async (rut: string, count: number) => {
  const numbers: string[] = [];
  for (let i = 0; i < count; i += 1) {
    const body = fromJson(JSON.stringify(aCfeBody()));
    const { serie, numero } = await issueCfe(deps(), { accountId, rut, environment: 'sandbox', body });
    numbers.push(`${serie} ${numero}`);
  }
  return numbers;
};
const ofSandbox = async (rut: string) =>
  (await reconcileNumbers(db.orm.em.fork(), { rut })).filter(({ environment }) => environment === 'sandbox');
const rangesOf = async (rut: string) =>
  (await findCaes(db.orm.em.fork(), rut, 'sandbox')).map((cae) => [cae.numberStart, cae.numberEnd]);

test('every number is accounted for, once, though one invented range was within another', async () => {
  const rut = await enterprise();
  await invent(rut);
  await issue(rut, 3);
  await invent(rut, { numberStart: 2, numberEnd: 50 });
  await issue(rut, 2);
  await invent(rut, { numberStart: 1, numberEnd: 9_000 });
  await issue(rut, 1);
  expect(await rangesOf(rut)).toEqual([
    [1, 3],
    [4, 5],
    [6, 9_000],
  ]);
  const found = await ofSandbox(rut);
  expect(found.map(({ given, waiting }) => [given, waiting])).toEqual([
    [3, 3],
    [2, 2],
    [1, 1],
  ]);
  expect(found.every(isAccountedFor)).toBe(true);
});

test('a span belongs to the latest of the CAEs that were invented with it', async () => {
  const rut = await enterprise();
  await invent(rut);
  await issue(rut, 3);
  const latest = await invent(rut, { numberEnd: 100, authorizationNumber: '90260009999' });
  const span = { rut, environment: 'sandbox', type: 'ETICKET', serie: 'A' } as const;
  const find = (from: number, to: number) => findCaeOfSpan(db.orm.em.fork(), { ...span, from, to });
  expect(await find(4, 20)).toMatchObject({ id: latest.id });
  expect(await find(3, 4)).toBeNull();
  expect(await find(101, 200)).toBeNull();
  await annulNumbers(deps(), { ...span, from: 10, to: 20, reason: 'lost' });
  expect((await ofSandbox(rut)).map(({ annulled }) => annulled)).toEqual([0, 11]);
});

test('a signed CAE follows invented ones, and gives none of their numbers again', async () => {
  const rut = await enterprise();
  await invent(rut);
  const before = await issue(rut, 4);
  expect(await upload(rut, 5, { from: 5, to: 100 })).toMatchObject({ numberStart: 5, lastNumber: 4 });
  const after = await issue(rut, 2);
  expect([...before, ...after]).toEqual(['A 1', 'A 2', 'A 3', 'A 4', 'A 5', 'A 6']);
  expect(await rangesOf(rut)).toEqual([
    [1, 4],
    [5, 100],
  ]);
  expect((await ofSandbox(rut)).every(isAccountedFor)).toBe(true);
});

test('a signed CAE with numbers that an invented one used is refused, and the invented one goes on', async () => {
  const rut = await enterprise();
  await invent(rut);
  await issue(rut, 4);
  await expect(upload(rut, 4, { from: 4, to: 100 })).rejects.toMatchObject({
    faults: [{ code: 'cae.overlap' }],
  });
  expect(await issue(rut, 1)).toEqual(['A 5']);
  expect(await rangesOf(rut)).toEqual([[1, 9_999_999]]);
});

test('the end of an invented CAE annuls nothing: nobody granted its numbers', async () => {
  const rut = await enterprise();
  await invent(rut);
  await issue(rut, 2);
  await db.orm.em
    .fork()
    .execute(`update cae set expiration_date = '2027-12-31' where rut = ? and environment = 'sandbox'`, [
      rut,
    ]);
  await asActivity(createRecordExpiries({ orm: db.worker, clock: () => new Date('2028-01-02T12:00:00Z') }));
  const annulments = await listAnnulments(
    db.orm.em.fork(),
    { rut, environment: 'sandbox', isOperator: true },
    { after: null, limit: 10 },
  );
  expect(annulments).toEqual([]);
  expect((await ofSandbox(rut)).every(isAccountedFor)).toBe(true);
});
