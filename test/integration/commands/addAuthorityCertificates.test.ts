import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { addAuthorityCertificates } from '../../../src/commands/addAuthorityCertificates.ts';
import type { CommandDeps } from '../../../src/commands/steps/deps.ts';
import { listAuthorityCertificates } from '../../../src/db/authorityCertificates.ts';
import { idleOutbox } from '../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database.ts';
import { anAuthority } from '../../support/papers.ts';

let db: TestDatabase;
let deps: CommandDeps;

beforeAll(async () => {
  db = await cloneDatabase();
  deps = { orm: db.orm, clock: () => new Date(), outbox: idleOutbox };
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
    'Certificate 1 of the file cannot be read.',
  ],
])('a file with %s is refused and changes nothing', async (_what, pem, message) => {
  const before = await held();

  await expect(addAuthorityCertificates(deps, { pem })).rejects.toMatchObject({
    code: 'INVALID_INPUT',
    message,
  });

  expect(await held()).toEqual(before);
});
