import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { requestCredentialsCheck } from '../../../../src/commands/enterprises/requestCredentialsCheck.ts';
import { rotateKeyEncryption } from '../../../../src/commands/operations/rotateKeyEncryption.ts';
import { addWebhook, rotateWebhookSecret } from '../../../../src/commands/webhooks/webhooks.ts';
import { createRequestHash } from '../../../../src/crypto/requestHash.ts';
import type { Opener, Sealer } from '../../../../src/crypto/sealed.ts';
import { Certificate } from '../../../../src/db/entities/enterprises.ts';
import { listAudit } from '../../../../src/db/operations/audit.ts';
import { SEALED_COLUMNS } from '../../../../src/db/operations/sealed.ts';
import type { Database, Orm } from '../../../../src/db/orm.ts';
import { cliOn } from '../../../support/cli.ts';
import { anAccount, idleOutbox } from '../../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../../support/database/database.ts';
import { aPepper } from '../../../support/database/pepper.ts';
import { aKeyPair, openerOf, type TestKey } from '../../../support/database/sealing.ts';
import { anEnterprise } from '../../../support/enterprises/enterprises.ts';
import { webhookDeps } from '../../../support/webhooks/deliveries.ts';

const second = aKeyPair('k2');
/** The pair that is replaced. */
const first = aKeyPair('k1');
const SECRET = Buffer.from('a secret');

let db: TestDatabase;
beforeEach(async () => {
  db = await cloneDatabase();
});
afterEach(() => db[Symbol.asyncDispose]());

const deps = () => ({
  orm: db.orm,
  clock: () => new Date(),
  outbox: idleOutbox,
  requestHash: createRequestHash([aPepper()]),
  certificateAuthorities: 'any' as const,
});

/** Enterprises, each with a certificate and a login, and one webhook with both its secrets, sealed by `sealer`. */
async function seal(sealer: Sealer, enterprises: number): Promise<{ accountId: string; ruts: string[] }> {
  const accountId = await anAccount(db.orm);
  const ruts: string[] = [];
  for (let i = 0; i < enterprises; i++) {
    const rut = await anEnterprise(db.orm, accountId);
    ruts.push(rut);
    await requestCredentialsCheck(
      { ...deps(), sealer },
      { accountId, rut, login: { username: 'user', password: 'pass' } },
    );
    await giveSealedCertificate(rut, sealer);
  }
  const hooks = webhookDeps(db.orm, { sealer });
  const { webhook } = await addWebhook(hooks, {
    accountId,
    url: 'https://127.0.0.1/',
    events: ['efactura.login'],
  });
  await rotateWebhookSecret(hooks, { webhookId: webhook.id });
  return { accountId, ruts };
}

async function giveSealedCertificate(rut: string, sealer: Sealer): Promise<void> {
  const id = randomUUID();
  await db.orm.em.fork().insert(Certificate, {
    id,
    rut,
    environment: 'production',
    subject: 'Comercial Ñandú S.A.',
    notBefore: new Date(),
    notAfter: new Date(),
    certificate: Buffer.from('certificate'),
    sealedKey: sealer.seal(SECRET, { purpose: 'certificate-key', rut, rowId: id }),
    createdAt: new Date(),
    replacedAt: null,
  });
}

/** Everything that is sealed, opened by `opener`; throws where it does not open. */
async function openAll(opener: Opener): Promise<string[]> {
  const opened: string[] = [];
  for (const { table, column, id, owner, belongsTo } of SEALED_COLUMNS) {
    const rows = await db.orm.em
      .fork()
      .execute<{ id: string; owner: string; sealed: string }[]>(
        `select ${id} as id, ${owner} as owner, ${column} as sealed from ${table} where ${column} is not null`,
      );
    for (const row of rows) opened.push(opener.open(row.sealed, belongsTo(row.owner, row.id)).toString());
  }
  return opened;
}

test('every sealed column of the database is known', () => {
  const sealed = [...db.orm.getMetadata().getAll().values()].flatMap(({ tableName, props }) =>
    props.flatMap(({ name, fieldNames }) =>
      name.startsWith('sealed') ? fieldNames.map((field) => `${tableName}.${field}`) : [],
    ),
  );
  // Sealed under the pepper, which stays (docs/console.md).
  const underThePepper = ['person.sealed_totp'];

  expect(SEALED_COLUMNS.map(({ table, column }) => `${table}.${column}`).toSorted()).toEqual(
    sealed.filter((column) => !underThePepper.includes(column)).toSorted(),
  );
});

describe('changing the key-encryption key to a new pair', () => {
  const both = openerOf(second, first);
  const rotation = () => ({ ...deps(), opener: both });

  test('puts every secret under the first key; the old one opens nothing more, and nothing is lost', async () => {
    await seal(first.sealer, 3);
    const before = await openAll(both);

    expect(await rotateKeyEncryption(rotation())).toEqual({ keyId: 'k2', resealed: 8 });

    expect(before).toHaveLength(8);
    expect(await openAll(second.opener)).toEqual(before);
  });

  test('is told in the audit once; with nothing to do, nothing is', async () => {
    await seal(first.sealer, 1);

    await rotateKeyEncryption({ ...rotation(), actor: 'cli:maria' });
    expect(await rotateKeyEncryption(rotation())).toEqual({ keyId: 'k2', resealed: 0 });

    const acts = (await listAudit(db.orm.em.fork(), {}, 100)).filter(
      ({ action }) => action === 'key_encryption.rotate',
    );
    expect(acts).toMatchObject([{ actor: 'cli:maria', subject: 'k2' }]);
  });

  test('is held up by nothing that does not open, however many they are', async () => {
    const { ruts } = await seal(first.sealer, 1);
    const em = db.orm.em.fork();
    await em.execute(
      `insert into certificate (id, rut, environment, subject, not_before, not_after, certificate, sealed_key, created_at,
         replaced_at)
       select gen_random_uuid(), rut, environment, subject, not_before, not_after, certificate, sealed_key, created_at, now()
       from certificate, generate_series(1, 450) where rut = ?`,
      [ruts[0]],
    );

    // Copied secrets stand in other rows than those that they were sealed for: they open nowhere.
    await expect(rotateKeyEncryption(rotation())).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringMatching(
        /^4 secrets were re-encrypted under k2; 450 are still encrypted under other keys/,
      ),
    });
  });

  test('broken off, goes on where it was', async () => {
    await seal(first.sealer, 4);
    let left = 3;
    const failing: Opener = {
      ...both,
      reseal(...of) {
        if (left-- === 0) throw new Error('broken off');
        return both.reseal(...of);
      },
    };

    await expect(rotateKeyEncryption({ ...deps(), opener: failing })).rejects.toThrow('broken off');
    expect(await rotateKeyEncryption(rotation())).toEqual({ keyId: 'k2', resealed: 7 });
    expect(await openAll(second.opener)).toHaveLength(10);
  });

  test('beside others that do the same and programs that store new logins: nothing is overwritten', async () => {
    const { accountId, ruts } = await seal(first.sealer, 20);
    const login = (rut: string) =>
      requestCredentialsCheck(
        { ...deps(), sealer: second.sealer },
        { accountId, rut, login: { username: 'new', password: rut } },
      );

    await Promise.all([rotateKeyEncryption(rotation()), rotateKeyEncryption(rotation()), ...ruts.map(login)]);

    const opened = await openAll(second.opener);
    expect(opened).toHaveLength(42);
    for (const rut of ruts) expect(opened).toContain(JSON.stringify({ username: 'new', password: rut }));
  });

  test('a login that is replaced between reading and writing is looked at again, not overwritten', async () => {
    const { ruts } = await seal(first.sealer, 1);
    const place = { purpose: 'efactura-login', rut: String(ruts[0]), rowId: String(ruts[0]) } as const;
    const replacement = first.sealer.seal(SECRET, place);
    let replaced = false;
    const overtaking = wrapped(db.orm, async (statement) => {
      if (replaced || !statement.startsWith('update enterprise')) return;
      replaced = true;
      await db.orm.em.fork().execute('update enterprise set sealed_login = ?', [replacement]);
    });

    expect(await rotateKeyEncryption({ ...rotation(), orm: overtaking })).toEqual({
      keyId: 'k2',
      resealed: 4,
    });

    expect(replaced).toBe(true);
    expect((await openAll(second.opener)).filter((text) => text === SECRET.toString())).toHaveLength(2);
  });
});

/** The same database, where `before` happens before each statement. */
function wrapped(orm: Orm, before: (statement: string) => Promise<void>): Database {
  return {
    em: {
      fork() {
        const em = orm.em.fork();
        const execute = em.execute.bind(em) as (...of: unknown[]) => Promise<unknown>;
        em.execute = (async (...of: unknown[]) => {
          await before(String(of[0]));
          return execute(...of);
        }) as typeof em.execute;
        return em;
      },
    },
  };
}

describe('cfe key-encryption', () => {
  const asVariable = (...keys: TestKey[]): string => keys.map(({ privateText }) => privateText).join();

  test('tells which keys hold how many secrets, changes over, and then the old key can go', async () => {
    await seal(first.sealer, 2);
    const cli = cliOn(db.urlOf('operator'), { CFE_KEY_ENCRYPTION_KEYS: asVariable(second, first) });

    expect(await cli.json('key-encryption', 'status')).toEqual([
      {
        key_id: 'k2',
        seals: true,
        configured: true,
        'certificate.sealed_key': 0,
        'enterprise.sealed_login': 0,
        'webhook.sealed_secret': 0,
        'webhook.sealed_previous_secret': 0,
        total: 0,
      },
      {
        key_id: 'k1',
        seals: false,
        configured: true,
        'certificate.sealed_key': 2,
        'enterprise.sealed_login': 2,
        'webhook.sealed_secret': 1,
        'webhook.sealed_previous_secret': 1,
        total: 6,
      },
    ]);
    expect(await cli.json('key-encryption', 'rotate')).toEqual({ key_id: 'k2', resealed: 6 });
    expect(await cli.json('key-encryption', 'status')).toMatchObject([{ total: 6 }, { total: 0 }]);
  });

  test('with a key that is not configured: it is named, all others are done, and that is refused', async () => {
    await seal(aKeyPair('k0').sealer, 1);
    await seal(first.sealer, 1);
    const cli = cliOn(db.urlOf('operator'), { CFE_KEY_ENCRYPTION_KEYS: asVariable(second, first) });

    expect((await cli.refusal('key-encryption', 'rotate')).message).toMatch(
      /^4 secrets were re-encrypted under k2; 4 are still encrypted under other keys: no configured key decrypts them/,
    );
    expect(await cli.json('key-encryption', 'status')).toMatchObject([
      { key_id: 'k2', total: 4 },
      { key_id: 'k1', total: 0 },
      { key_id: 'k0', configured: false, total: 4 },
    ]);
  });

  test('without keys it says which variable lacks', async () => {
    const { message } = await cliOn(db.urlOf('operator'), { CFE_KEY_ENCRYPTION_KEYS: '' }).refusal(
      'key-encryption',
      'status',
    );

    expect(message).toContain('CFE_KEY_ENCRYPTION_KEYS is not set');
  });
});
