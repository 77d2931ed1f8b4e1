import { X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createRecordExpiries } from '../../../src/activities/enterprises/recordExpiries.ts';
import {
  type UploadCertificateDeps,
  uploadCertificate,
} from '../../../src/commands/enterprises/uploadCertificate.ts';
import type { LookUpRevocation, RevocationState } from '../../../src/crypto/revocation.ts';
import { buildEnterpriseObject, findEnterprise } from '../../../src/db/enterprises/enterprises.ts';
import { Certificate } from '../../../src/db/entities/enterprises.ts';
import { anAccount, eventsOf, idleOutbox } from '../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.ts';
import { aKeyPair } from '../../support/database/sealing.ts';
import { anEnterprise } from '../../support/enterprises/enterprises.ts';
import { aHolder, p12Of } from '../../support/enterprises/revocation.ts';
import { openTemporal, type TestTemporal } from '../../support/temporal/temporal.ts';

const root = aHolder({ name: 'Raiz', ca: true });
const between = aHolder({ name: 'Intermedia', issuer: root, ca: true });
const authorities = [new X509Certificate(root.pem)];

let db: TestDatabase;
let temporal: TestTemporal;
let owner: string;
let deps: UploadCertificateDeps;
/** What the authority says, and which certificates were asked about. */
let state: RevocationState = 'good';
const asked: Uint8Array[][] = [];
const lookUpRevocation: LookUpRevocation = async (chains) => {
  asked.push(chains.flat().map(({ certificate }) => certificate));
  return chains.map((chain) => (chain.length === 0 ? 'unknown' : state));
};
beforeAll(async () => {
  [db, temporal] = await Promise.all([cloneDatabase({ worker: true }), openTemporal('cfe')]);
  owner = await anAccount(db.orm);
  deps = {
    orm: db.orm,
    clock: () => new Date(),
    outbox: idleOutbox,
    sealer: aKeyPair().sealer,
    certificateAuthorities: authorities,
    lookUpRevocation,
  };
});
afterAll(async () => {
  await temporal[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

const upload = (rut: string, issuers = [between, root], notBefore = new Date(Date.now() - 60_000)) => {
  const holder = aHolder({ name: 'Empresa', rut, issuer: between, notBefore });
  return uploadCertificate(deps, { rut, file: p12Of(holder, issuers, 'clave'), password: 'clave' });
};
const objectOf = async (rut: string) => {
  const em = db.orm.em.fork();
  const enterprise = await findEnterprise(em, rut);
  if (!enterprise) throw new Error('there is no such enterprise');
  return buildEnterpriseObject(em, enterprise, new Date());
};
const warningsOf = async (rut: string) => (await objectOf(rut)).warnings.map(({ code }) => code);

let runs = 0;
/** One run of the hourly look, by the workflow; the clock stands at `now`. */
async function look(now: Date, trusted = authorities): Promise<void> {
  runs += 1;
  const activity = createRecordExpiries({
    orm: db.worker,
    clock: () => now,
    certificates: { authorities: trusted, lookUpRevocation },
  });
  const options = { workflowId: `looks-${runs}`, taskQueue: 'cfe' };
  await temporal.withWorkers({ recordExpiries: activity }, () =>
    temporal.client.workflow.execute('tellExpiries', options),
  );
}
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000);

describe('an upload', () => {
  test('is taken by a chain in the file up to a configured root, and each link is asked about', async () => {
    state = 'good';
    const rut = await anEnterprise(db.orm, owner);
    asked.length = 0;
    const { intermediates } = await upload(rut);
    expect(intermediates).toBe(between.pem);
    expect(asked).toHaveLength(1);
    expect(asked[0]).toHaveLength(2);
  });

  test('without its intermediate has an unknown issuer, and nothing that it names is asked', async () => {
    const rut = await anEnterprise(db.orm, owner);
    asked.length = 0;
    await expect(upload(rut, [root])).rejects.toMatchObject({
      faults: [{ code: 'certificate.unknown_issuer' }],
    });
    expect(asked).toEqual([]);
  });

  test('of a revoked certificate is refused; of one about which nothing is known, taken', async () => {
    const rut = await anEnterprise(db.orm, owner);
    state = 'revoked';
    await expect(upload(rut)).rejects.toMatchObject({
      faults: [{ path: '/cert_b64', code: 'certificate.revoked' }],
    });
    state = 'unknown';
    await upload(rut);
    expect((await objectOf(rut)).certificate.status).toBe('VALID');
  });

  test('is stored once the second of its notBefore has passed', async () => {
    state = 'good';
    const rut = await anEnterprise(db.orm, owner);
    const notBefore = new Date(Math.floor(Date.now() / 1_000) * 1_000 + 60_000);
    const { clock } = deps;
    // The first look at it, after opening the file, is at its notBefore.
    let ahead: number | undefined;
    const late = (): Date => {
      ahead ??= notBefore.getTime() - Date.now();
      return new Date(Date.now() + ahead);
    };
    deps = { ...deps, clock: late };
    try {
      const { createdAt } = await upload(rut, [between], notBefore);
      expect(createdAt.getTime()).toBeGreaterThanOrEqual(notBefore.getTime() + 1_000);
    } finally {
      deps = { ...deps, clock };
    }
  });
});

describe('the look once a day', () => {
  test('tells a revoked certificate once; neither silence nor an older answer takes that back', async () => {
    state = 'good';
    const rut = await anEnterprise(db.orm, owner);
    await upload(rut);
    const updates = async () =>
      (await eventsOf(db.orm, rut))
        .filter(({ event }) => event === 'enterprise.updated')
        .map(
          ({ data }) =>
            (data['changes'] as { certificate?: { to: { status: string } } }).certificate?.to.status,
        )
        .filter((status) => status !== undefined);
    const before = (await updates()).length;

    await look(inDays(0));
    expect((await updates()).length).toBe(before);
    state = 'revoked';
    // Looked at within the day already.
    await look(inDays(0.5));
    expect((await objectOf(rut)).certificate.status).toBe('VALID');
    await look(inDays(1));
    await look(inDays(2));
    expect((await updates()).slice(before)).toEqual(['REVOKED']);
    expect((await objectOf(rut)).certificate.status).toBe('REVOKED');
    expect(await warningsOf(rut)).toContain('enterprise.certificate_revoked');

    state = 'unknown';
    await look(inDays(3));
    expect((await objectOf(rut)).certificate.status).toBe('REVOKED');
    state = 'good';
    await look(inDays(4));
    expect((await updates()).slice(before)).toEqual(['REVOKED']);
    expect(await warningsOf(rut)).toContain('enterprise.certificate_revoked');
  });

  test('warns where no configured authority certifies it any more', async () => {
    state = 'good';
    const rut = await anEnterprise(db.orm, owner);
    await upload(rut);
    await look(inDays(6), [new X509Certificate(aHolder({ name: 'Otra raiz', ca: true }).pem)]);
    expect(await warningsOf(rut)).toContain('enterprise.certificate_untrusted');
    expect((await objectOf(rut)).certificate.status).toBe('VALID');
    await look(inDays(8));
    expect(await warningsOf(rut)).not.toContain('enterprise.certificate_untrusted');
    const [stored] = await db.orm.em.fork().find(Certificate, { rut });
    expect(stored?.checkedAt).not.toBeNull();
  });
});
