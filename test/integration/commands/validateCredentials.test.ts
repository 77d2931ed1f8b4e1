import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { CommandDeps } from '../../../src/commands/steps/deps.ts';
import { validateCredentials } from '../../../src/commands/validateCredentials.ts';
import type { Sealer } from '../../../src/crypto/sealed.ts';
import { findEnterprise } from '../../../src/db/enterprises.ts';
import { anAccount, idleOutbox, outboxOf } from '../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database.ts';
import { anEnterprise } from '../../support/enterprises.ts';
import { aRut } from '../../support/papers.ts';
import { aKeyPair } from '../../support/sealing.ts';

let db: TestDatabase;
const keys = aKeyPair();
let deps: CommandDeps & { sealer: Sealer };
let accountId: string;

beforeAll(async () => {
  db = await cloneDatabase();
  deps = { orm: db.orm, clock: () => new Date(), outbox: idleOutbox, sealer: keys.sealer };
  accountId = await anAccount(db.orm);
});
afterAll(async () => {
  await db[Symbol.asyncDispose]();
});

const stored = (rut: string) => findEnterprise(db.orm.em.fork(), rut);
const login = { username: 'contadora', password: 'muy-secreta' };

test('the login is kept sealed, the status is VALIDATING, and the check is started', async () => {
  const rut = await anEnterprise(db.orm, accountId);

  await validateCredentials(deps, { rut, login });

  const enterprise = await stored(rut);
  expect(enterprise).toMatchObject({ efacturaStatus: 'VALIDATING', loginStatus: 'NOT_ATTEMPTED' });
  expect(enterprise?.sealedLogin).not.toContain('muy-secreta');
  const opened = keys.opener.open(enterprise?.sealedLogin ?? '', {
    purpose: 'efactura-login',
    rut,
    rowId: rut,
  });
  expect(JSON.parse(opened.toString('utf8'))).toEqual(login);
  const messages = await outboxOf(db.orm, `credentials:${rut}`);
  expect(messages).toEqual([{ workflow: 'validateCredentials', signal: 'validateAgain', input: { rut } }]);
  expect(JSON.stringify(await db.orm.em.fork().execute('select * from outbox'))).not.toMatch(
    /contadora|secreta/,
  );
});

test('without a login the stored one stays and is checked again', async () => {
  const rut = await anEnterprise(db.orm, accountId);
  await validateCredentials(deps, { rut, login });
  const before = (await stored(rut))?.sealedLogin;

  await validateCredentials(deps, { rut, login: {} });

  expect((await stored(rut))?.sealedLogin).toBe(before);
  expect(await outboxOf(db.orm, `credentials:${rut}`)).toHaveLength(2);
});

test('an unknown RUT is NOT_FOUND', async () => {
  await expect(validateCredentials(deps, { rut: aRut(), login })).rejects.toMatchObject({
    code: 'NOT_FOUND',
  });
});
