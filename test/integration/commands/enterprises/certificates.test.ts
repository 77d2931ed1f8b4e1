import { createPrivateKey } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  type UploadCertificateDeps,
  uploadCertificate,
} from '../../../../src/commands/enterprises/uploadCertificate.ts';
import { Certificate } from '../../../../src/db/entities/enterprises.ts';
import { anAccount, idleOutbox, outboxOf } from '../../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../../support/database/database.ts';
import { aKeyPair } from '../../../support/database/sealing.ts';
import { anEnterprise } from '../../../support/enterprises/enterprises.ts';
import { aCertificate, type CertificatePapers, rsaKey } from '../../../support/receipts/papers.ts';

let db: TestDatabase;
let deps: UploadCertificateDeps;
const keys = aKeyPair();
let accountId: string;

beforeAll(async () => {
  db = await cloneDatabase();
  deps = {
    orm: db.orm,
    clock: () => new Date(),
    outbox: idleOutbox,
    sealer: keys.sealer,
    certificateAuthorities: 'any',
  };
  accountId = await anAccount(db.orm);
});
afterAll(async () => {
  await db[Symbol.asyncDispose]();
});

const upload = (rut: string, { certB64, password }: CertificatePapers): Promise<Certificate> =>
  uploadCertificate(deps, { rut, file: Buffer.from(certB64, 'base64'), password });
const held = (rut: string): Promise<Certificate[]> =>
  db.orm.em.fork().find(Certificate, { rut }, { populate: ['sealedKey'], orderBy: { createdAt: 'asc' } });

test('keeps the certificate and its private key, sealed; neither the file nor its password', async () => {
  const rut = await anEnterprise(db.orm, accountId);
  const papers = aCertificate({ rut, password: 'secreto-del-archivo' });

  const { id } = await upload(rut, papers);

  const [stored] = await held(rut);
  expect(stored).toMatchObject({
    id,
    rut,
    environment: 'production',
    subject: 'Comercial Ñandú S.A.',
    replacedAt: null,
  });
  const row = JSON.stringify(await db.orm.em.fork().execute('select * from certificate where id = ?', [id]));
  expect(row).not.toContain('secreto-del-archivo');
  const key = keys.opener.open(stored?.sealedKey ?? '', { purpose: 'certificate-key', rut, rowId: id });
  expect(key.equals(pkcs8Of(rsaKey('company')))).toBe(true);
  expect(await outboxOf(db.orm, `enterprise:${rut}`)).toMatchObject([{ signal: 'factsChanged' }]);
});

test('a second one replaces the first, which stays for the record', async () => {
  const rut = await anEnterprise(db.orm, accountId);
  const first = await upload(rut, aCertificate({ rut }));

  const second = await upload(rut, aCertificate({ rut }));

  expect((await held(rut)).map(({ id, replacedAt }) => [id, replacedAt])).toEqual([
    [first.id, second.createdAt],
    [second.id, null],
  ]);
});

test('of several at once one signs in the end', async () => {
  const rut = await anEnterprise(db.orm, accountId);
  await Promise.all([1, 2, 3].map(() => upload(rut, aCertificate({ rut }))));

  const certificates = await held(rut);
  expect(certificates).toHaveLength(3);
  expect(certificates.filter(({ replacedAt }) => replacedAt === null)).toHaveLength(1);
});

test('a refused one replaces nothing', async () => {
  const rut = await anEnterprise(db.orm, accountId);
  await upload(rut, aCertificate({ rut }));
  const past = aCertificate({ rut, notBefore: new Date('2024-01-01'), notAfter: new Date('2025-01-01') });

  await expect(upload(rut, past)).rejects.toMatchObject({ faults: [{ code: 'certificate.expired' }] });

  expect(await held(rut)).toMatchObject([{ replacedAt: null }]);
});

function pkcs8Of(pem: string): Buffer {
  return createPrivateKey(pem).export({ type: 'pkcs8', format: 'der' });
}
