import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createValidateLogin } from '../../../../src/activities/enterprises/validateLogin.ts';
import {
  type CredentialsCheckDeps,
  requestCredentialsCheck,
} from '../../../../src/commands/enterprises/requestCredentialsCheck.ts';
import { createRequestHash } from '../../../../src/crypto/requestHash.ts';
import { findEnterprise } from '../../../../src/db/enterprises/enterprises.ts';
import { anAccount, idleOutbox, outboxOf } from '../../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../../support/database/database.ts';
import { aPepper } from '../../../support/database/pepper.ts';
import { aKeyPair } from '../../../support/database/sealing.ts';
import { anEnterprise, giveCertificate } from '../../../support/enterprises/enterprises.ts';
import { aRut } from '../../../support/receipts/papers.ts';
import { asActivity } from '../../../support/temporal/activityContext.ts';
import { until } from '../../../support/until.ts';

let db: TestDatabase;
const keys = aKeyPair();
let deps: CredentialsCheckDeps;
let accountId: string;
/** The moment that the commands go by; 9 in the morning in Montevideo. */
let now: number;

beforeAll(async () => {
  db = await cloneDatabase({ worker: true });
  deps = {
    orm: db.orm,
    clock: () => new Date(now),
    outbox: idleOutbox,
    sealer: keys.sealer,
    requestHash: createRequestHash([aPepper()]),
    certificateAuthorities: 'any',
  };
  accountId = await anAccount(db.orm);
});
afterAll(async () => {
  await db[Symbol.asyncDispose]();
});

beforeEach(() => {
  now = Date.parse('2026-05-04T12:00:00Z');
});

const stored = (rut: string) => findEnterprise(db.orm.em.fork(), rut);
const login = { username: 'contadora', password: 'muy-secreta' };

test('the login is kept sealed, the status is VALIDATING, and the check is started', async () => {
  const rut = await anEnterprise(db.orm, accountId);

  await requestCredentialsCheck(deps, { accountId, rut, login });

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
  await requestCredentialsCheck(deps, { accountId, rut, login });
  const before = (await stored(rut))?.sealedLogin;

  await requestCredentialsCheck(deps, { accountId, rut, login: {} });

  expect((await stored(rut))?.sealedLogin).toBe(before);
  expect(await outboxOf(db.orm, `credentials:${rut}`)).toHaveLength(2);
});

test('an unknown RUT is NOT_FOUND', async () => {
  await expect(requestCredentialsCheck(deps, { accountId, rut: aRut(), login })).rejects.toMatchObject({
    code: 'NOT_FOUND',
  });
});

describe('who may have a login checked, and how often', () => {
  const MINUTE = 60_000;
  const ask = (rut: string, by = accountId, password?: string, using = deps) =>
    requestCredentialsCheck(using, {
      accountId: by,
      rut,
      login: password === undefined ? {} : { username: 'ana', password },
    });
  /** The authority's answer to the check that runs. */
  const answered = (rut: string, login: 'success' | 'failed') =>
    asActivity(() =>
      createValidateLogin({
        orm: db.worker,
        clock: deps.clock,
        outbox: idleOutbox,
        openLogin: () => null,
        checkLogin: async () => ({ login, permissions: [], message: '' }),
      })(rut),
    );
  const guess = async (rut: string, by = accountId) => {
    await ask(rut, by, `guess ${Math.random()}`);
    await answered(rut, 'failed');
  };
  const paused = (seconds: number) => ({ code: 'RATE_LIMITED', retryAfterSeconds: seconds });
  /** One whose certificate proves who owns it. */
  const proven = async () => {
    const rut = await anEnterprise(db.orm, accountId);
    await giveCertificate(db.orm, rut);
    return rut;
  };

  test('five failures have no consequence; then each doubles the pause; a success ends it', async () => {
    const rut = await proven();
    for (let i = 0; i < 5; i++) await guess(rut);

    await expect(ask(rut, accountId, 'right')).rejects.toMatchObject(paused(60));
    expect(await stored(rut)).toMatchObject({ efacturaStatus: 'INVALID' });
    now += MINUTE - 1;
    await expect(ask(rut)).rejects.toMatchObject(paused(1));
    now += 1;
    await guess(rut);
    await expect(ask(rut, accountId, 'right')).rejects.toMatchObject({
      ...paused(120),
      message: 'The login failed 6 times in a row; the next check is possible in 120 seconds.',
    });

    now += 2 * MINUTE;
    await ask(rut, accountId, 'right');
    await answered(rut, 'success');
    await guess(rut);
    await expect(ask(rut)).resolves.toBeDefined();
  });

  test('the pause is one account’s: the owner of the same enterprise has theirs checked', async () => {
    const [rut, member] = [await proven(), await anAccount(db.orm)];
    for (let i = 0; i < 5; i++) await guess(rut, member);

    await expect(ask(rut, member)).rejects.toMatchObject(paused(60));
    await expect(ask(rut, accountId, 'right')).resolves.toMatchObject({ efacturaStatus: 'VALIDATING' });
  });

  test('a failure counts for the account whose login was asked about, not for the one that it took the place of', async () => {
    const [rut, member] = [await proven(), await anAccount(db.orm)];
    for (let i = 0; i < 6; i++) {
      await ask(rut, accountId, 'right');
      await guess(rut, member).catch(() => undefined);
      if (i === 5) await answered(rut, 'success');
    }
    await expect(ask(rut, accountId, 'other')).resolves.toBeDefined();
  });

  test('a login that takes the place of one’s own that is being checked counts that one as failed', async () => {
    const rut = await proven();

    const guesses = await Promise.allSettled(
      Array.from({ length: 20 }, (_, i) => ask(rut, accountId, `guess ${i}`)),
    );

    expect(guesses.filter(({ status }) => status === 'fulfilled')).toHaveLength(6);
    await expect(ask(rut, accountId, 'right')).rejects.toMatchObject(paused(60));
    await answered(rut, 'success');
    await expect(ask(rut, accountId, 'right')).resolves.toBeDefined();
  });

  test('while no certificate proves who owns the RUT: twenty checks a day in Montevideo, however they end', async () => {
    const rut = await anEnterprise(db.orm, accountId);
    for (let i = 0; i < 20; i++) {
      await ask(rut);
      await answered(rut, i % 2 === 0 ? 'success' : 'failed');
    }

    await expect(ask(rut)).rejects.toMatchObject({
      ...paused(15 * 3_600),
      message: expect.stringMatching(
        /^Until a valid certificate of the enterprise is uploaded, .* 20 times a day/,
      ),
    });
    now += 15 * 60 * MINUTE;
    await expect(ask(rut)).resolves.toBeDefined();
  });

  test('a certificate that no configured authority issued proves nothing', async () => {
    const rut = await proven();
    const strict = { ...deps, certificateAuthorities: [] };
    for (let i = 0; i < 20; i++) {
      await ask(rut, accountId, undefined, strict);
      await answered(rut, 'success');
    }
    await expect(ask(rut, accountId, undefined, strict)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    await expect(ask(rut)).resolves.toBeDefined();
  });

  test('joining the check that runs counts for nothing, twenty times at once; thirty logins at once are six', async () => {
    const rut = await anEnterprise(db.orm, accountId);
    await Promise.all(Array.from({ length: 20 }, () => ask(rut, accountId, 'the same')));
    await Promise.all(Array.from({ length: 20 }, () => ask(rut)));

    const guesses = await Promise.allSettled(
      Array.from({ length: 30 }, (_, i) => ask(rut, accountId, `guess ${i}`)),
    );
    // The first and five that took its place, each of which counts the one before as failed.
    expect(guesses.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
  });

  describe('failures of an account, counted over all its enterprises', () => {
    const mine = async (count: number, owner: string) =>
      Promise.all(Array.from({ length: count }, () => anEnterprise(db.orm, owner)));
    /** How many of the checks asked for at once were let through. */
    const sprayed = async (ruts: readonly string[], by: string) => {
      const asked = await Promise.allSettled(ruts.map((rut) => ask(rut, by, 'Primavera2026')));
      const refused = asked.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
      return { through: ruts.filter((_, i) => asked[i]?.status === 'fulfilled'), refused };
    };

    test('one password for 60 RUTs at once: 50 are asked about; the next day 50 more', async () => {
      const sprayer = await anAccount(db.orm);
      const ruts = await mine(60, sprayer);

      const { through, refused } = await sprayed(ruts, sprayer);
      expect(through).toHaveLength(50);
      // While they are checked nobody knows whether they fail.
      for (const error of refused) expect(error).toMatchObject(paused(60));

      for (const rut of through) await answered(rut, 'failed');
      const left = ruts.filter((rut) => !through.includes(rut));
      await expect(ask(left[0] ?? '', sprayer, 'Primavera2026')).rejects.toMatchObject({
        ...paused(15 * 3_600),
        message: expect.stringMatching(/^Logins of the account's enterprises failed 50 times today/),
      });
      // Another account, and a check of what is stored, go on.
      await expect(ask(await proven(), accountId, 'right')).resolves.toBeDefined();
      await expect(ask(left[0] ?? '', sprayer)).resolves.toBeDefined();
      now += 15 * 60 * MINUTE;
      expect((await sprayed(left, sprayer)).through).toHaveLength(10);
    });

    test('what succeeds does not count: an account has any number of right logins checked', async () => {
      const owner = await anAccount(db.orm);
      for (let round = 0; round < 3; round++) {
        const { through } = await sprayed(await mine(25, owner), owner);
        expect(through).toHaveLength(25);
        await Promise.all(through.map((rut) => answered(rut, 'success')));
      }
    });

    test('a check that another account’s took the place of stays counted for the one before: the authority may have been asked', async () => {
      const [one, other] = [await anAccount(db.orm), await anAccount(db.orm)];
      const ruts = await mine(51, one);
      await sprayed(ruts.slice(0, 50), one);
      await expect(ask(ruts[50] ?? '', one, 'right')).rejects.toMatchObject({ code: 'RATE_LIMITED' });

      await ask(ruts[0] ?? '', other, 'theirs');

      await expect(ask(ruts[50] ?? '', one, 'right')).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    });
  });
});

test('of many checks at a slow service twenty are in progress in a worker; the others hold no place, and go later', async () => {
  const ruts = await Promise.all(Array.from({ length: 23 }, () => anEnterprise(db.orm, accountId)));
  for (const rut of ruts) await requestCredentialsCheck(deps, { accountId, rut, login: {} });
  const { promise: slow, resolve: answer } = Promise.withResolvers<void>();
  const asked: string[] = [];
  const check = createValidateLogin({
    orm: db.worker,
    clock: deps.clock,
    outbox: idleOutbox,
    openLogin: () => null,
    async checkLogin({ rut }) {
      asked.push(rut);
      await slow;
      return { login: 'success', permissions: [], message: '' };
    },
  });

  const turnedAway: unknown[] = [];
  const checks = ruts.map((rut) =>
    asActivity(() => check(rut)).catch((error: unknown) => {
      turnedAway.push(error);
    }),
  );
  try {
    await until(
      'each is asked or turned away',
      20,
      async () => asked.length + turnedAway.length === ruts.length,
    );
  } finally {
    answer();
    await Promise.all(checks);
  }

  const busy = { type: 'NotYet', category: 'BENIGN' };
  expect(turnedAway).toMatchObject([busy, busy, busy]);
  expect(asked.toSorted()).toEqual(ruts.slice(0, 20).toSorted());

  expect(await asActivity(() => check(ruts[20] ?? ''))).toMatchObject({ kind: 'checked' });
});
