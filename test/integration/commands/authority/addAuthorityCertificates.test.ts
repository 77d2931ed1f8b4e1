import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  type AuthorityRuts,
  addAuthorityCertificates,
} from '../../../../src/commands/authority/addAuthorityCertificates.ts';
import type { CommandDeps } from '../../../../src/commands/steps/deps.ts';
import {
  listAuthorityCertificates,
  trustedSigners,
} from '../../../../src/db/authority/authorityCertificates.ts';
import { listAudit } from '../../../../src/db/operations/audit.ts';
import type { Environment } from '../../../../src/domain/receipts/cfeTypes.ts';
import { idleOutbox } from '../../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../../support/database/database.ts';
import { AUTHORITY_RUT_VARIABLES, anAuthority } from '../../../support/receipts/papers.ts';

let db: TestDatabase;
let deps: CommandDeps & { authorityRuts: AuthorityRuts };

beforeAll(async () => {
  db = await cloneDatabase();
  deps = { orm: db.orm, clock: () => new Date(), outbox: idleOutbox, authorityRuts: AUTHORITY_RUT_VARIABLES };
});
afterAll(async () => {
  await db[Symbol.asyncDispose]();
});

const held = async () =>
  (await listAuthorityCertificates(db.orm.em.fork())).map(({ fingerprint }) => fingerprint);

test('every certificate of a file is trusted once, however often it is added', async () => {
  const first = anAuthority('one').certificatePem;
  const second = anAuthority('two').certificatePem;

  const added = await addAuthorityCertificates(deps, { pem: `comment\n${first}\n${second}` });
  await addAuthorityCertificates(deps, { pem: second });
  await addAuthorityCertificates(deps, { pem: `${first}${first}` });

  expect(added).toHaveLength(2);
  expect(added[0]?.subject).toContain('CN=one TEST');
  expect((await held()).toSorted()).toEqual(added.map(({ fingerprint }) => fingerprint).toSorted());
});

test.each([
  ['no certificate at all', 'hello', 'The file has no PEM certificate.'],
  [
    'a broken certificate',
    '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----',
    'Certificate 1 in the file cannot be read.',
  ],
])('a file with %s is refused and changes nothing', async (_what, pem, message) => {
  const before = await held();

  await expect(addAuthorityCertificates(deps, { pem })).rejects.toMatchObject({
    code: 'INVALID_INPUT',
    message,
  });

  expect(await held()).toEqual(before);
});

describe('the environment in which a certificate counts', () => {
  const trustedIn = async (environment: Environment) => [
    ...(await trustedSigners(db.orm.em.fork(), environment)),
  ];
  const added = async (pem: string, environment?: Environment) => {
    const [certificate] = await addAuthorityCertificates(deps, { pem, environment });
    if (!certificate) throw new Error('nothing was added');
    return certificate.fingerprint;
  };
  const auditOf = async (subject: string) =>
    (await listAudit(db.orm.em.fork(), { subject }, 10)).map(({ reason }) => reason);

  test('is told by the RUT in its subject', async () => {
    const production = await added(anAuthority('production').certificatePem);
    const sandbox = await added(
      anAuthority('sandbox', { rut: AUTHORITY_RUT_VARIABLES.sandbox }).certificatePem,
    );

    expect(await trustedIn('production')).toContain(production);
    expect(await trustedIn('production')).not.toContain(sandbox);
    expect(await trustedIn('sandbox')).toContain(sandbox);
    expect(await trustedIn('sandbox')).not.toContain(production);
  });

  test('must be named for any other RUT, and stays as it was named', async () => {
    const { certificatePem } = anAuthority('third', { rut: '219999820013' });
    await expect(addAuthorityCertificates(deps, { pem: certificatePem })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: "The subject of certificate 1 in the file has no authority's RUT; name its environment.",
    });

    const third = await added(certificatePem, 'sandbox');
    expect(await trustedIn('sandbox')).toContain(third);
    expect(await trustedIn('production')).not.toContain(third);
  });

  test('that is named counts more than the RUT; it may be changed, with an entry in the audit', async () => {
    const { certificatePem } = anAuthority('moved');
    const moved = await added(certificatePem);
    await added(certificatePem, 'sandbox');
    await added(certificatePem, 'sandbox');
    await added(certificatePem);

    expect(await trustedIn('sandbox')).toContain(moved);
    expect(await trustedIn('production')).not.toContain(moved);
    expect(await auditOf(moved)).toEqual([null, 'named for sandbox']);
  });

  test('is not told by a RUT that both environments have', async () => {
    const { certificatePem } = anAuthority('both');
    const same = {
      production: AUTHORITY_RUT_VARIABLES.production,
      sandbox: AUTHORITY_RUT_VARIABLES.production,
    };
    await expect(
      addAuthorityCertificates({ ...deps, authorityRuts: same }, { pem: certificatePem }),
    ).rejects.toMatchObject({ code: 'INVALID_INPUT' });
  });
});
