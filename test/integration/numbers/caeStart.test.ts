import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createCheckCaeStart } from '../../../src/activities/authority/checkCaeStart.ts';
import { addAuthorityCertificates } from '../../../src/commands/authority/addAuthorityCertificates.ts';
import { uploadCertificate } from '../../../src/commands/enterprises/uploadCertificate.ts';
import { uploadCae } from '../../../src/commands/numbers/uploadCae.ts';
import { issueCfe } from '../../../src/commands/receipts/issueCfe.ts';
import { listAuthorityCertificates } from '../../../src/db/authority/authorityCertificates.ts';
import { buildEnterpriseObject, findEnterprise } from '../../../src/db/enterprises/enterprises.ts';
import { Certificate } from '../../../src/db/entities/enterprises.ts';
import { Cae } from '../../../src/db/entities/numbers.ts';
import { skipCaeNumbers } from '../../../src/db/numbers/numbers.ts';
import { createDgiClient } from '../../../src/dgi/client.ts';
import { createGate } from '../../../src/gate/gate.ts';
import { createKeyOpener } from '../../../src/wiring/privateKeys.ts';
import { anAccount, outboxOf } from '../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.ts';
import { aKeyPair } from '../../support/database/sealing.ts';
import { anEnterprise, aReadyEnterprise } from '../../support/enterprises/enterprises.ts';
import { aCfeBody } from '../../support/receipts/cfeBodies.ts';
import { fromJson } from '../../support/receipts/exactJson.ts';
import { AUTHORITY_RUT_VARIABLES, anAuthority, type CaeWishes } from '../../support/receipts/papers.ts';
import { aSimulator, portal, type TestSimulator } from '../../support/simulator/world.ts';
import { asActivity } from '../../support/temporal/activityContext.ts';
import { webhookDeps } from '../../support/webhooks/deliveries.ts';

const authority = anAuthority();
let db: TestDatabase;
let simulator: TestSimulator;
let accountId: string;
let now = new Date();
let deps: ReturnType<typeof webhookDeps>;

beforeAll(async () => {
  db = await cloneDatabase({ worker: true });
  simulator = await aSimulator();
  deps = webhookDeps(db.orm, { clock: () => now });
  accountId = await anAccount(db.orm);
  const pem = (await portal(simulator.url, 'GET', '/portal/authority-certificates')).bytes.toString();
  for (const each of [authority.certificatePem, pem])
    await addAuthorityCertificates({ ...deps, authorityRuts: AUTHORITY_RUT_VARIABLES }, { pem: each });
});
afterAll(async () => {
  await simulator.stop();
  await db[Symbol.asyncDispose]();
});

/** Uploads e-Ticket numbers of a serie, 1 to 1,000 unless told. */
const upload = (rut: string, startNumber: number, wishes: Partial<CaeWishes> = {}) =>
  uploadCae(deps, {
    rut,
    file: Buffer.from(authority.caeXml({ rut, from: 1, to: 1_000, ...wishes })),
    startNumber,
  });
async function certify(rut: string): Promise<void> {
  const { json } = await portal(simulator.url, 'POST', '/portal/certificates', { rut, password: 'clave' });
  const { cert_b64 } = json as { cert_b64: string };
  await uploadCertificate(
    { ...deps, certificateAuthorities: 'any' },
    { rut, file: Buffer.from(cert_b64, 'base64'), password: 'clave' },
  );
}
/** The other system of the company has issued these numbers. */
async function issuedElsewhere(rut: string, ...numbers: number[]): Promise<void> {
  for (const numero of numbers) {
    const cfe = { rut, cfe_type_code: '101', serie: 'A', numero, emission_date: '2026-11-20' };
    expect((await portal(simulator.url, 'POST', '/portal/foreign-cfes', cfe)).status).toBe(201);
  }
}
const migrating = async (...numbers: number[]): Promise<string> => {
  const rut = await anEnterprise(db.orm, accountId);
  await certify(rut);
  await issuedElsewhere(rut, ...numbers);
  return rut;
};

/** The activity as the worker has it, with its rights in the database; `between`: after the authority's answers. */
function checkOf({ id }: Cae, { url = simulator.url, between = async () => {} } = {}) {
  const endpoint = {
    receptionUrl: `${url}/production/ws_efactura`,
    consultationUrl: `${url}/production/ws_consultas`,
  };
  const client = createDgiClient({
    endpoints: { production: endpoint, sandbox: endpoint },
    timeouts: { connectSeconds: 5, answerSeconds: 10 },
    soapHash: 'sha256',
    trustedSigners: async () =>
      new Set((await listAuthorityCertificates(db.orm.em.fork())).map(({ fingerprint }) => fingerprint)),
  });
  const check = createCheckCaeStart({
    orm: db.worker,
    clock: () => now,
    client: {
      async findCfe(...question) {
        const answer = await client.findCfe(...question);
        await between();
        return answer;
      },
    },
    gate: createGate({ orm: db.worker, sendsPerSecond: 100, questionsPerSecond: 100 }),
    privateKeyOf: createKeyOpener(deps.opener),
  });
  return asActivity(() => check(id));
}
const rowOf = ({ id }: Cae) =>
  db.orm.em
    .fork()
    .findOneOrFail(Cae, { id }, { fields: ['startNumber', 'startOpen', 'startFindings', 'lastNumber'] });
async function warningsOf(rut: string): Promise<string[]> {
  const em = db.orm.em.fork();
  const enterprise = await findEnterprise(em, rut);
  if (!enterprise) throw new Error('no enterprise');
  return (await buildEnterpriseObject(em, enterprise, now)).warnings
    .map(({ code }) => code)
    .filter((code) => code.startsWith('cae.'));
}

test('one is asked about where the company has used the numbers before; a whole range and the sandbox never', async () => {
  const rut = await migrating(499);
  const whole = await upload(rut, 1, { serie: 'B' });
  expect(await rowOf(whole)).toMatchObject({ startNumber: null, startOpen: false, startFindings: null });

  const cae = await upload(rut, 500, { authorizationNumber: '90261110001' });

  expect(await outboxOf(db.orm, `cae-start:${rut}:90261110001`)).toEqual([
    { workflow: 'checkCaeStart', signal: 'factsChanged', input: { caeId: cae.id } },
  ]);
  expect(await rowOf(cae)).toMatchObject({ startNumber: 500, startOpen: true, startFindings: null });
  expect(await warningsOf(rut)).toEqual([]);
});

test.each([
  ['goes on where the other system stopped', [499], [], []],
  ['leaves a gap', [], ['before_unknown'], ['cae.number_before_unknown']],
  ['begins too early', [499, 500], ['first_known'], ['cae.first_number_known']],
  [
    'is wrong on both sides',
    [500],
    ['before_unknown', 'first_known'],
    ['cae.number_before_unknown', 'cae.first_number_known'],
  ],
] as const)('one that %s', async (_, issued, findings, warnings) => {
  const rut = await migrating(...issued);
  const cae = await upload(rut, 500);

  const result = await checkOf(cae);

  expect(result).toEqual(
    findings.length === 0
      ? { kind: 'ended', findings }
      : { kind: 'goesOn', findings, againInMilliseconds: 86_400_000 },
  );
  expect(await warningsOf(rut)).toEqual(warnings);
  // A worker that was killed after storing does it once more, and one that was killed before has stored nothing.
  expect(await checkOf(cae)).toEqual(result);
  expect(await rowOf(cae)).toMatchObject({ startOpen: findings.length > 0, startFindings: findings });
});

test('what the other system sends later ends the warning; after 60 days nobody asks any more', async () => {
  const began = new Date();
  const rut = await migrating();
  const [one, two] = [await upload(rut, 500), await upload(rut, 500, { serie: 'B' })];
  await checkOf(one);
  await checkOf(two);
  expect(await warningsOf(rut)).toHaveLength(2);
  await issuedElsewhere(rut, 499);

  expect(await checkOf(one)).toEqual({ kind: 'ended', findings: [] });
  now = new Date(began.getTime() + 60.1 * 86_400_000);
  expect(await checkOf(two)).toEqual({ kind: 'ended', findings: ['before_unknown'] });

  expect(await rowOf(two)).toMatchObject({ startOpen: false });
  expect(await warningsOf(rut)).toEqual(['cae.number_before_unknown']);
  now = began;
});

test('an authority that does not answer is asked no more after 60 days', async () => {
  const began = new Date();
  const cae = await upload(await migrating(), 500);
  await portal(simulator.url, 'PUT', '/portal/outage', { seconds: 600 });
  await expect(checkOf(cae)).rejects.toMatchObject({ type: 'AuthorityUnreachable' });
  now = new Date(began.getTime() + 60.1 * 86_400_000);
  expect(await checkOf(cae)).toEqual({ kind: 'ended', findings: [] });
  expect(await rowOf(cae)).toMatchObject({ startOpen: false, startFindings: null });
  now = began;
  await portal(simulator.url, 'PUT', '/portal/outage', { seconds: 0 });
});

test('while the authority is away the upload is taken, and the question repeated until it answers', async () => {
  const rut = await migrating(499);
  await portal(simulator.url, 'PUT', '/portal/outage', { seconds: 600 });
  const cae = await upload(rut, 500);
  await expect(checkOf(cae)).rejects.toMatchObject({ type: 'AuthorityUnreachable' });
  await expect(checkOf(cae, { url: 'http://127.0.0.1:1' })).rejects.toMatchObject({
    type: 'AuthorityUnreachable',
  });
  expect(await rowOf(cae)).toMatchObject({ startOpen: true, startFindings: null });

  await portal(simulator.url, 'PUT', '/portal/outage', { seconds: 0 });

  expect(await checkOf(cae)).toEqual({ kind: 'ended', findings: [] });
});

test('without a certificate it waits; each new one wakes all open questions of the enterprise, and no others', async () => {
  const rut = await anEnterprise(db.orm, accountId);
  const [one, two] = [
    await upload(rut, 500, { authorizationNumber: '90261110002' }),
    await upload(rut, 500, { serie: 'B', authorizationNumber: '90261110003' }),
  ];
  await issuedElsewhere(rut, 499);
  expect(await checkOf(one)).toEqual({ kind: 'noCertificate' });
  expect(await rowOf(one)).toMatchObject({ startOpen: true, startFindings: null });

  await certify(rut);
  expect(await checkOf(one)).toEqual({ kind: 'ended', findings: [] });
  await certify(rut);

  const signals = async (number: string) =>
    (await outboxOf(db.orm, `cae-start:${rut}:${number}`)).map(({ signal }) => signal);
  expect(await signals(one.authorizationNumber)).toEqual(['factsChanged', 'factsChanged']);
  expect(await signals(two.authorizationNumber)).toEqual(['factsChanged', 'factsChanged', 'factsChanged']);
});

test('a key that nobody can open is asked for again every hour', async () => {
  const rut = await migrating(499);
  const cae = await upload(rut, 500);
  await db.orm.em.fork().nativeUpdate(
    Certificate,
    { rut },
    {
      sealedKey: aKeyPair('other').sealer.seal(Buffer.from('key'), {
        purpose: 'certificate-key',
        rut,
        rowId: rut,
      }),
    },
  );
  await expect(checkOf(cae)).rejects.toMatchObject({ type: 'AuthorityRefuses', nextRetryDelay: 3_600_000 });
  await certify(rut);
  expect(await checkOf(cae)).toEqual({ kind: 'ended', findings: [] });
});

test('the first number is not judged once it may be ours: issued before the question, or while it is in progress', async () => {
  const ready = async () => {
    const rut = await aReadyEnterprise(db.orm, accountId, { caes: [] });
    await certify(rut);
    await issuedElsewhere(rut, 499, 500);
    return { rut, cae: await upload(rut, 500) };
  };
  const issue = (rut: string) =>
    issueCfe(deps, {
      accountId,
      rut,
      environment: 'production',
      body: fromJson(JSON.stringify(aCfeBody())),
    });
  const before = await ready();
  expect(await issue(before.rut)).toMatchObject({ numero: 500 });
  expect(await checkOf(before.cae)).toEqual({ kind: 'ended', findings: [] });

  const meanwhile = await ready();
  let issued: Promise<unknown> | undefined;
  const between = async () => {
    issued ??= issue(meanwhile.rut);
    await issued;
  };
  expect(await checkOf(meanwhile.cae, { between })).toEqual({ kind: 'ended', findings: [] });
  expect(await rowOf(meanwhile.cae)).toMatchObject({ lastNumber: 500, startFindings: [] });
});

test('numbers that the operator skips end the warning about the first one at once', async () => {
  const rut = await migrating(499, 500);
  const cae = await upload(rut, 500);
  await checkOf(cae);
  expect(await warningsOf(rut)).toEqual(['cae.first_number_known']);
  await skipCaeNumbers(db.orm.em.fork(), cae.id, { from: 500, to: 500 });
  expect(await warningsOf(rut)).toEqual([]);
  expect(await checkOf(cae)).toEqual({ kind: 'ended', findings: [] });
});

test('of the same file at once, several times, one is taken and asked about once', async () => {
  const rut = await migrating(499);
  const uploads = await Promise.allSettled(
    [1, 2, 3, 4].map(() => upload(rut, 500, { authorizationNumber: '90261110004' })),
  );
  expect(uploads.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  expect(uploads.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))).toEqual(
    Array.from({ length: 3 }, () =>
      expect.objectContaining({ faults: [expect.objectContaining({ code: 'cae.known' })] }),
    ),
  );
  expect(await outboxOf(db.orm, `cae-start:${rut}:90261110004`)).toHaveLength(1);
});
