import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createMakeReadyWhenComplete } from '../../../../src/activities/enterprises/makeReadyWhenComplete.ts';
import { addAuthorityCertificates } from '../../../../src/commands/authority/addAuthorityCertificates.ts';
import { createEnterprise } from '../../../../src/commands/enterprises/createEnterprise.ts';
import {
  type CredentialsCheckDeps,
  requestCredentialsCheck,
} from '../../../../src/commands/enterprises/requestCredentialsCheck.ts';
import { resumeEnterprise, suspendEnterprise } from '../../../../src/commands/enterprises/suspension.ts';
import {
  type UpdateEnterpriseDeps,
  updateEnterprise,
} from '../../../../src/commands/enterprises/updateEnterprise.ts';
import {
  type UploadCertificateDeps,
  uploadCertificate,
} from '../../../../src/commands/enterprises/uploadCertificate.ts';
import { uploadCae } from '../../../../src/commands/numbers/uploadCae.ts';
import { createRequestHash } from '../../../../src/crypto/requestHash.ts';
import { Cae } from '../../../../src/db/entities/numbers.ts';
import { anAccount, eventsOf, idleOutbox } from '../../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../../support/database/database.ts';
import { aPepper } from '../../../support/database/pepper.ts';
import { aKeyPair } from '../../../support/database/sealing.ts';
import {
  aReadyEnterprise,
  enterpriseBody,
  anEnterprise as enterpriseOf,
} from '../../../support/enterprises/enterprises.ts';
import {
  AUTHORITY_RUT_VARIABLES,
  aCertificate,
  anAuthority,
  aRut,
} from '../../../support/receipts/papers.ts';

let db: TestDatabase;
let deps: UpdateEnterpriseDeps & UploadCertificateDeps & CredentialsCheckDeps;
let accountId: string;
const authority = anAuthority();

beforeAll(async () => {
  db = await cloneDatabase({ worker: true });
  deps = {
    orm: db.orm,
    clock: () => new Date(),
    outbox: idleOutbox,
    checkoutUrl: 'https://pay.example',
    certificateAuthorities: 'any',
    sealer: aKeyPair().sealer,
    requestHash: createRequestHash([aPepper()]),
  };
  accountId = await anAccount(db.orm);
  await addAuthorityCertificates(
    { ...deps, authorityRuts: AUTHORITY_RUT_VARIABLES },
    { pem: authority.certificatePem },
  );
});
afterAll(() => db[Symbol.asyncDispose]());

const anEnterprise = () => enterpriseOf(db.orm, accountId);
/** The `changes` of every enterprise.updated. */
const changesOf = async (rut: string) =>
  (await eventsOf(db.orm, rut))
    .filter(({ event }) => event === 'enterprise.updated')
    .map(({ data }) => data['changes']);

describe('enterprise.updated', () => {
  test('tells who changed, and what was and is', async () => {
    const rut = await anEnterprise();

    await updateEnterprise(deps, {
      rut,
      update: {
        plan_id: 'FREE',
        frequency_id: 'MONTHLY',
        scheduled_ready_date: new Date('2026-03-01T12:00:00Z'),
      },
    });

    expect(await eventsOf(db.orm, rut)).toEqual([
      {
        event: 'enterprise.updated',
        timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        data: {
          rut,
          legal_name: 'Comercial Ñandú S.A.',
          trade_name: 'Ñandú',
          status: 'PENDING',
          changes: {
            plan_metadata: { from: null, to: { plan_id: 'FREE', frequency_id: 'MONTHLY' } },
            scheduled_ready_date: { from: null, to: '2026-03-01T12:00:00.000Z' },
          },
        },
      },
    ]);
  });

  test('is told of a certificate, from the first and from another', async () => {
    const rut = await anEnterprise();
    const upload = async (legalName: string) => {
      const { certB64, password } = aCertificate({ rut, legalName });
      await uploadCertificate(deps, { rut, file: Buffer.from(certB64, 'base64'), password });
    };

    await upload('Primera');
    await upload('Segunda');

    const none = { status: 'NONE', subject: null, emission_date: null, expiration_date: null };
    expect(await changesOf(rut)).toEqual([
      { certificate: { from: none, to: expect.objectContaining({ status: 'VALID', subject: 'Primera' }) } },
      {
        certificate: {
          from: expect.objectContaining({ subject: 'Primera' }),
          to: expect.objectContaining({ subject: 'Segunda' }),
        },
      },
    ]);
  });

  test('is told of a CAE, and not of the numbers that were used of those before', async () => {
    const rut = await aReadyEnterprise(db.orm, accountId, { caes: [{ from: 1, to: 100, last: 7 }] });
    const upload = (from: number) =>
      uploadCae(deps, {
        rut,
        file: Buffer.from(authority.caeXml({ rut, serie: 'B', from, to: from + 99 })),
        startNumber: from,
      });

    await upload(1);
    await db.orm.em.fork().nativeUpdate(Cae, { rut, serie: 'A' }, { lastNumber: 50 });
    await updateEnterprise(deps, { rut, update: { plan_id: 'FREE' } });

    const [changes, ...others] = (await changesOf(rut)) as { caes: { from: unknown[]; to: unknown[] } }[];
    expect(others).toEqual([]);
    expect(changes?.caes.from).toHaveLength(1);
    expect(changes?.caes.to).toMatchObject([{ last_number: 7 }, { series: 'B', last_number: 0 }]);
  });

  test('is told of a check of the credentials that begins, once', async () => {
    const rut = await anEnterprise();

    await requestCredentialsCheck(deps, { accountId, rut, login: {} });
    await requestCredentialsCheck(deps, { accountId, rut, login: {} });

    const metadata = { login_status: 'NOT_ATTEMPTED', permissions: [], missing_perms: ['HOMO', 'PROD'] };
    expect(await changesOf(rut)).toEqual([
      {
        efactura_metadata: {
          from: { status: 'NOT_VALIDATED', ...metadata },
          to: { status: 'VALIDATING', ...metadata },
        },
      },
    ]);
  });

  test('is told of suspending and resuming', async () => {
    const rut = await anEnterprise();

    await suspendEnterprise(deps, { rut, reason: 'Falta de pago' });
    await resumeEnterprise(deps, { rut });

    expect(await changesOf(rut)).toEqual([
      { status: { from: 'PENDING', to: 'SUSPENDED' } },
      { status: { from: 'SUSPENDED', to: 'PENDING' } },
    ]);
    expect(JSON.stringify(await eventsOf(db.orm, rut))).not.toContain('Falta de pago');
  });

  test('is told of becoming READY, once', async () => {
    const rut = await aReadyEnterprise(db.orm, accountId, { values: { status: 'PENDING' } });
    const makeReadyWhenComplete = createMakeReadyWhenComplete({ ...deps, orm: db.worker });

    expect(await makeReadyWhenComplete(rut)).toEqual({ kind: 'ready' });
    expect(await makeReadyWhenComplete(rut)).toEqual({ kind: 'ready' });

    expect(await changesOf(rut)).toEqual([{ status: { from: 'PENDING', to: 'READY' } }]);
    expect(await eventsOf(db.orm, rut)).toMatchObject([{ data: { status: 'READY' } }]);
  });

  test('is not told of the creation, nor of what is refused', async () => {
    const rut = aRut();
    await createEnterprise(deps, { accountId, enterprise: enterpriseBody(rut) });

    await expect(updateEnterprise(deps, { rut, update: { plan_id: 'GOLD' } })).rejects.toThrow();
    await expect(resumeEnterprise(deps, { rut })).rejects.toThrow();

    expect(await eventsOf(db.orm, rut)).toEqual([]);
  });
});
