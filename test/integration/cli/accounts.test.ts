import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createApiKeys } from '../../../src/crypto/apiKeys.ts';
import { serviceKeys, startApi } from '../../support/api/api.ts';
import { expectRefusal } from '../../support/api/expectRefusal.ts';
import { type Cli, cliOn } from '../../support/cli.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.ts';
import { aPepper, pepperVariable } from '../../support/database/pepper.ts';
import { anEnterprise } from '../../support/enterprises/enterprises.ts';
import { aRut } from '../../support/receipts/papers.ts';

const PEPPER = aPepper();
const MOMENT = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const UUID = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);

let db: TestDatabase;
let cli: Cli;
beforeAll(async () => {
  db = await cloneDatabase();
  cli = cliOn(db.urlOf('operator'), { CFE_PEPPER: pepperVariable(PEPPER) });
});
afterAll(() => db[Symbol.asyncDispose]());

const anAccount = async (...more: string[]): Promise<string> => {
  const made = await cli.json<{ account_id: string }>(
    'account',
    'create',
    '--name',
    'Estudio Sur',
    '--email',
    'sur@example.com',
    ...more,
  );
  return made.account_id;
};

describe('cfe account', () => {
  test('create, show and list tell the same account', async () => {
    const account = {
      account_id: UUID,
      name: 'Estudio Norte',
      email: 'norte@example.com',
      is_developer: true,
      created_at: MOMENT,
    };
    const made = await cli.json(
      'account',
      'create',
      '--name',
      account.name,
      '--email',
      account.email,
      '--developer',
    );

    expect(made).toEqual(account);
    expect(await cli.json('account', 'show', String(made['account_id']))).toEqual(made);
    expect(await cli.json('account', 'list')).toContainEqual({ ...made, enterprises: 0, people: 0 });
  });

  test('create without --developer makes none who may use the sandbox', async () => {
    expect(await cli.json('account', 'show', await anAccount())).toMatchObject({ is_developer: false });
  });

  test('create refuses what is no address, and an empty name, both at once', async () => {
    const { code, stdout, stderr } = await cli.call('account', 'create', '--name', ' ', '--email', 'nobody');

    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toBe(
      'INVALID_INPUT: name: must not be empty or blank. (2 faults; see details.fields.)\n' +
        '  name: must not be empty or blank.\n' +
        '  email: must be an e-mail address.\n',
    );
  });

  test.each(['nonsense', randomUUID()])('show refuses the unknown %s', async (id) => {
    expect(await cli.refusal('account', 'show', id)).toEqual({
      code: 'NOT_FOUND',
      message: `There is no account ${id}.`,
    });
  });

  test('list and show are tables for people', async () => {
    const id = await anAccount();

    const list = await cli.call('account', 'list');
    const show = await cli.call('account', 'show', id);

    expect(list.stdout).toMatch(/^account_id +name +email +is_developer +created_at\n/);
    expect(list.stdout).toMatch(new RegExp(`^${id} +Estudio Sur +sur@example.com +false +20`, 'm'));
    expect(show.stdout).toMatch(new RegExp(`^account_id +${id}\nname +Estudio Sur\n`));
  });
});

describe('cfe key', () => {
  test('create shows a key that opens the API; list tells of it, without it; revoke ends it and its tokens', async () => {
    const account = await anAccount();
    const keys = { ...(await serviceKeys()), apiKeys: createApiKeys([PEPPER]) };
    await using api = await startApi({ orm: db.orm, keys });

    const made = await cli.json<{ key_id: string; api_key: string }>(
      'key',
      'create',
      account,
      '--environment',
      'production',
      '--label',
      'Caja 1',
    );
    expect(made).toEqual({
      key_id: UUID,
      api_key: expect.stringMatching(/^cfe_live_/),
      environment: 'production',
      scope: 'full',
      label: 'Caja 1',
    });
    const client = api.client.with({ 'x-api-key': made.api_key });
    const { data } = await client.post<{ access_token: string }>('/tokens', {});
    const known = client.with({ authorization: `Bearer ${data.access_token}` });
    expectRefusal(await known.get(`/enterprises/${aRut()}`), 404, 'NOT_FOUND');

    const row = {
      key_id: made.key_id,
      prefix: made.api_key.split('_').slice(0, 3).join('_'),
      environment: 'production',
      scope: 'full',
      label: 'Caja 1',
      created_at: MOMENT,
      last_used_at: MOMENT,
      revoked_at: null,
    };
    expect(await cli.json('key', 'list', account)).toEqual([row]);

    expect(await cli.json('key', 'revoke', made.key_id)).toEqual({ ...row, revoked_at: MOMENT });
    expectRefusal(await client.post('/tokens', {}), 401, 'INVALID_API_KEY');
    expectRefusal(await known.get(`/enterprises/${aRut()}`), 401, 'UNAUTHORIZED');
  });

  test('a key for the sandbox, without a label', async () => {
    const account = await anAccount('--developer');

    expect(await cli.json('key', 'create', account, '--environment', 'sandbox')).toMatchObject({
      api_key: expect.stringMatching(/^cfe_test_/),
      environment: 'sandbox',
      label: null,
    });
  });

  test('unknown accounts and keys are refused', async () => {
    const id = randomUUID();
    const unknown = { code: 'NOT_FOUND', message: `There is no account ${id}.` };

    expect(await cli.refusal('key', 'create', id, '--environment', 'production')).toEqual(unknown);
    expect(await cli.refusal('key', 'list', id)).toEqual(unknown);
    expect(await cli.refusal('key', 'revoke', id)).toEqual({
      code: 'NOT_FOUND',
      message: `There is no API key ${id}.`,
    });
  });

  test('without a pepper no key is made, and the reason says so', async () => {
    const account = await anAccount();
    const { CFE_PEPPER: _none, ...environment } = cli.environment;
    const bare = cliOn(db.urlOf('operator'), { ...environment, CFE_PEPPER: undefined });

    expect(await bare.refusal('key', 'create', account, '--environment', 'production')).toEqual({
      code: 'UNAVAILABLE',
      message: expect.stringContaining('CFE_PEPPER is not set'),
    });
  });
});

describe('cfe grant', () => {
  test('set, list and remove', async () => {
    const [owner, other] = [await anAccount(), await anAccount()];
    const rut = await anEnterprise(db.orm, owner);
    const row = { account_id: other, rut, role: 'VIEWER' };

    expect(await cli.json('grant', 'set', other, rut, '--role', 'VIEWER')).toEqual(row);
    expect(await cli.json('grant', 'set', other, rut, '--role', 'MEMBER')).toEqual({
      ...row,
      role: 'MEMBER',
    });

    for (const filter of [[], ['--account', other], ['--rut', rut], ['--account', other, '--rut', rut]]) {
      expect(await cli.json('grant', 'list', ...filter)).toEqual([{ ...row, role: 'MEMBER' }]);
    }
    expect(await cli.json('grant', 'list', '--account', owner)).toEqual([]);

    expect(await cli.json('grant', 'remove', other, rut)).toEqual({ ...row, role: null });
    expect(await cli.json('grant', 'list')).toEqual([]);
  });

  test('what cannot be is refused', async () => {
    const [owner, other] = [await anAccount(), await anAccount()];
    const [rut, unknown] = [await anEnterprise(db.orm, owner), aRut()];
    const set = (account: string, of: string) => cli.refusal('grant', 'set', account, of, '--role', 'VIEWER');

    expect(await set(randomUUID(), rut)).toMatchObject({ code: 'NOT_FOUND' });
    expect(await set(other, unknown)).toEqual({
      code: 'NOT_FOUND',
      message: `No enterprise with RUT ${unknown} is registered.`,
    });
    expect(await set(other, '219999830018')).toEqual({
      code: 'INVALID_INPUT',
      message: 'rut: 219999830018 ends in 8, but its check digit is 9.',
    });
    expect(await set(owner, rut)).toMatchObject({ code: 'INVALID_INPUT', message: /is the OWNER/ });
    expect(await cli.refusal('grant', 'remove', other, rut)).toMatchObject({ code: 'NOT_FOUND' });
    expect(await cli.refusal('grant', 'remove', 'nonsense', rut)).toMatchObject({ code: 'NOT_FOUND' });
  });
});

test('a reason that is given to an act of consequence stands in the audit, and none is needed', async () => {
  const [owner, other] = [await anAccount(), await anAccount()];
  const rut = await anEnterprise(db.orm, owner);
  const reason = 'Lo pidió la empresa';
  const why = ['--reason', reason];
  await cli.json('user', 'create', '--email', 'rosa@example.com', '--account', owner, '--role', 'OWNER');
  const acts: string[][] = [
    ['limit', 'set', owner, '--environment', 'sandbox', '--per-hour', '10'],
    ['grant', 'set', other, rut, '--role', 'VIEWER'],
    ['grant', 'remove', other, rut],
    ['user', 'sessions', 'rosa@example.com', '--end', 'all'],
    ['user', 'disable', 'rosa@example.com'],
  ];
  for (const act of acts) await cli.json(...act, ...why);
  const said = await db.orm.em
    .fork()
    .execute('select action from audit where reason = ? order by id', [reason]);
  expect(said.map(({ action }) => action)).toEqual([
    'limit.set',
    'grant.set',
    'grant.remove',
    'user.end_sessions',
    'user.disable',
  ]);
});

describe('cfe limit', () => {
  test('set answers the limit, and another takes its place', async () => {
    const account = await anAccount();
    const set = (perHour: string) =>
      cli.json('limit', 'set', account, '--environment', 'production', '--per-hour', perHour);
    const row = { account_id: account, environment: 'production' };

    expect(await set('5000')).toEqual({ ...row, per_hour: 5000 });
    expect(await set('7')).toEqual({ ...row, per_hour: 7 });
    const stored = await db.orm.em.fork().execute('select * from rate_limit where account_id = ?', [account]);
    expect(stored).toEqual([{ ...row, per_hour: 7 }]);
  });

  test('an unknown account is refused', async () => {
    const refusal = await cli.refusal(
      'limit',
      'set',
      randomUUID(),
      '--environment',
      'sandbox',
      '--per-hour',
      '10',
    );
    expect(refusal).toMatchObject({ code: 'NOT_FOUND' });
  });
});

test('without the console’s address nobody is invited: the link would be lost', async () => {
  const without = cliOn(db.urlOf('operator'), { CFE_CONSOLE_URL: '' });
  const email = 'nadie@example.com';
  for (const act of [
    ['create', '--email', email, '--role', 'VIEWER'],
    ['invite', 'rosa@example.com'],
  ])
    expect(await without.refusal('user', ...act)).toEqual({
      code: 'UNAVAILABLE',
      message: expect.stringContaining('CFE_CONSOLE_URL is not set'),
    });
  expect(await cli.json<{ email: string }[]>('user', 'list')).not.toContainEqual(
    expect.objectContaining({ email }),
  );
});
