import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { updateEnterprise } from '../../../src/commands/enterprises/updateEnterprise.ts';
import { type Cli, cliOn } from '../../support/cli.ts';
import { anAccount, idleOutbox } from '../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.ts';
import { anEnterprise, aReadyEnterprise } from '../../support/enterprises/enterprises.ts';
import { anAuthority, aRut } from '../../support/receipts/papers.ts';

const MOMENT = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
let db: TestDatabase;
let cli: Cli;
let accountId: string;
let folder: string;
beforeAll(async () => {
  db = await cloneDatabase();
  cli = cliOn(db.urlOf('operator'));
  accountId = await anAccount(db.orm);
  folder = mkdtempSync(join(tmpdir(), 'cfe-cli-'));
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await db[Symbol.asyncDispose]();
});

/** A file with that content; its path. */
function aFile(content: unknown): string {
  const path = join(folder, `${Math.random()}.json`);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

describe('cfe plan', () => {
  const STANDARD = [
    { plan_id: 'FREE', frequency_id: 'MONTHLY', amount: 0, currency: 'UYU' },
    { plan_id: 'STANDARD', frequency_id: 'MONTHLY', amount: 990, currency: 'UYU' },
    { plan_id: 'STANDARD', frequency_id: 'YEARLY', amount: 9900, currency: 'UYU' },
  ];

  test('load puts on sale and changes prices, others stay; list tells of all', async () => {
    expect(await cli.json('plan', 'list')).toEqual(STANDARD);

    const monthly = { ...STANDARD[1], amount: 1090.5 };
    const gold = { plan_id: 'GOLD', frequency_id: 'YEARLY', amount: 250, currency: 'USD' };
    const all = [STANDARD[0], gold, monthly, STANDARD[2]];

    expect(await cli.json('plan', 'load', aFile([gold, monthly]))).toEqual(all);
    expect(await cli.json('plan', 'list')).toEqual(all);
  });

  test('load refuses a file with faults, all at once, and takes nothing of it', async () => {
    const before = await cli.json('plan', 'list');
    const file = aFile([
      { plan_id: 'NEW', frequency_id: 'MONTHLY', amount: 1, currency: 'UYU' },
      { plan_id: 'GOLD', frequency_id: '', amount: 1.234, currency: 'GBP', colour: 'red' },
    ]);

    const { code, stdout, stderr } = await cli.call('plan', 'load', file);

    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('(4 faults; see details.fields.)');
    for (const words of [
      '[1].colour: unknown field.',
      '[1].frequency_id: must not be empty or blank.',
      '[1].amount: must have at most 2 decimals, found 3 in 1.234.',
      '[1].currency: must be one of "UYU", "USD", "EUR", found "GBP".',
    ]) {
      expect(stderr).toContain(`  ${words}\n`);
    }
    expect(await cli.json('plan', 'list')).toEqual(before);
  });

  test.each([
    ['is not JSON', 'plans', /^The file must be JSON/],
    ['says two things of one plan', twice(), /^\[1\]: must not be given twice\.$/],
    ['is no array', '{}', /^The file must be an array, found an object\.$/],
    ['is empty', '[]', /^The file must have at least 1 item, found none\.$/],
  ])('load refuses a file that %s', async (_, content, message) => {
    expect(await cli.refusal('plan', 'load', aFile(content))).toEqual({
      code: 'INVALID_INPUT',
      message: expect.stringMatching(message),
    });
  });

  test('load refuses a file that is not there', async () => {
    expect(await cli.refusal('plan', 'load', '/nowhere/plans.json')).toEqual({
      code: 'INVALID_INPUT',
      message: 'The file /nowhere/plans.json cannot be read.',
    });
  });

  function twice(): string {
    const plan = { plan_id: 'P', frequency_id: 'F', amount: 1, currency: 'UYU' };
    return JSON.stringify([plan, { ...plan, amount: 2 }]);
  }
});

describe('cfe payment', () => {
  async function aPayment(): Promise<{ rut: string; id: string }> {
    const rut = await anEnterprise(db.orm, accountId);
    await updateEnterprise(
      { orm: db.orm, clock: () => new Date(), outbox: idleOutbox, checkoutUrl: 'https://pay.example' },
      { rut, update: { plan_id: 'STANDARD', frequency_id: 'YEARLY' } },
    );
    const [payment] = await cli.json<{ payment_id: string }[]>('payment', 'list', '--rut', rut);
    return { rut, id: payment?.payment_id ?? '' };
  }

  test('list tells of all, or of one enterprise; settle and cancel move one', async () => {
    const [one, other] = [await aPayment(), await aPayment()];
    const row = {
      payment_id: one.id,
      enterprise_rut: one.rut,
      plan_id: 'STANDARD',
      frequency_id: 'YEARLY',
      amount: 9900,
      currency: 'UYU',
      status: 'PENDING',
      redirect_url: `https://pay.example/${one.id}`,
      created_at: MOMENT,
      settled_at: null,
    };
    expect(await cli.json('payment', 'list', '--rut', one.rut)).toEqual([row]);
    expect(await cli.json('payment', 'list')).toMatchObject([
      { payment_id: other.id },
      { payment_id: one.id },
    ]);

    expect(await cli.json('payment', 'settle', one.id)).toEqual({
      ...row,
      status: 'PAID',
      settled_at: MOMENT,
    });
    expect(await cli.json('payment', 'cancel', other.id)).toMatchObject({ status: 'CANCELLED' });
    expect(await cli.refusal('payment', 'cancel', one.id)).toEqual({
      code: 'INVALID_INPUT',
      message: `The payment ${one.id} is PAID; only a PENDING payment can become CANCELLED.`,
    });
    expect(await cli.refusal('payment', 'settle', 'nonsense')).toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('cfe ui-value', () => {
  const LOADED = {
    year: 2026,
    value: 6.4208,
    source: 'INE, value of 2025-12-22, quoted by El País',
    estimate: true,
  };

  test('load sets years, others stay; list tells of all', async () => {
    expect(await cli.json('ui-value', 'list')).toEqual([LOADED]);

    const next = { year: 2027, value: 6.7001, source: 'INE, 2026-12-31', estimate: false };

    expect(await cli.json('ui-value', 'load', aFile([next]))).toEqual([LOADED, next]);
    expect(await cli.json('ui-value', 'list')).toEqual([LOADED, next]);
  });

  test('load refuses a value of nothing', async () => {
    const file = aFile([{ ...LOADED, value: 0 }]);
    expect(await cli.refusal('ui-value', 'load', file)).toEqual({
      code: 'INVALID_INPUT',
      message: '[0].value: must be above 0, found 0.',
    });
  });
});

describe('cfe authority-certificate', () => {
  test('add trusts what a file holds, once; list tells of all', async () => {
    const pem = anAuthority().certificatePem + anAuthority('other').certificatePem;
    const row = {
      fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
      subject: expect.stringContaining('CN=authority TEST'),
      environment: 'production',
      not_before: MOMENT,
      not_after: MOMENT,
      added_at: MOMENT,
    };

    const added = await cli.json<unknown[]>('authority-certificate', 'add', aFile(pem));
    await cli.json('authority-certificate', 'add', aFile(pem));

    expect(added).toHaveLength(2);
    expect(added).toContainEqual(row);
    const list = await cli.json<unknown[]>('authority-certificate', 'list');
    expect(list).toHaveLength(2);
    expect(list).toEqual(expect.arrayContaining(added));
  });

  test('add --environment says where they count', async () => {
    const { certificatePem } = anAuthority('third', { rut: '219999820013' });
    const file = aFile(certificatePem);

    const refused = await cli.refusal('authority-certificate', 'add', file);
    const added = await cli.json('authority-certificate', 'add', file, '--environment', 'sandbox');

    expect(refused.message).toMatch(/name its environment/);
    expect(added).toMatchObject([{ environment: 'sandbox' }]);
  });

  test('add refuses a file without any', async () => {
    expect(await cli.refusal('authority-certificate', 'add', aFile('nothing'))).toEqual({
      code: 'INVALID_INPUT',
      message: 'The file has no PEM certificate.',
    });
  });
});

describe('cfe enterprise', () => {
  test('list and show tell the object of the API; suspend and resume change it', async () => {
    const rut = await aReadyEnterprise(db.orm, accountId, { caes: [{ from: 11, to: 20 }] });
    const object = {
      rut,
      legal_name: 'Comercial Ñandú S.A.',
      trade_name: 'Ñandú',
      street_name: 'Rincón 501',
      locality_name: 'Montevideo',
      department_name: 'Montevideo',
      branch: 1,
      phone_number: null,
      email: null,
      website: null,
      issuer_since: null,
      resolution: null,
      exemption_norm: null,
      vat_up_to_date: true,
      small_tickets: 'SEND',
      has_logo: false,
      role: null,
      status: 'READY',
      is_new_enterprise: false,
      is_authorized_issuer: true,
      scheduled_ready_date: '2026-01-01T03:00:00.000Z',
      certificate: expect.objectContaining({ status: 'VALID' }),
      caes: [expect.objectContaining({ number_start: 11, last_number: 10 })],
      plan_metadata: { plan_id: 'FREE', frequency_id: 'MONTHLY' },
      efactura_metadata: {
        status: 'VALID',
        login_status: 'SUCCESS',
        permissions: ['HOMO', 'PROD'],
        missing_perms: [],
      },
      warnings: [
        {
          code: 'enterprise.no_issuer_since',
          message: expect.stringContaining('issuer_since or resolution'),
        },
        {
          code: 'enterprise.ui_value_estimated',
          message: expect.stringContaining('UI value of 2026'),
        },
      ],
      suspension_reason: null,
      owner_account_id: accountId,
    };

    expect(await cli.json('enterprise', 'show', rut)).toEqual(object);
    expect(await cli.json('enterprise', 'list')).toContainEqual(object);
    const listed = (status: string) => cli.json('enterprise', 'list', '--status', status);
    expect(await listed('READY')).toContainEqual(object);
    expect(await listed('SUSPENDED')).toEqual([]);

    const suspended = { ...object, status: 'SUSPENDED', suspension_reason: 'Falta de pago' };
    expect(await cli.json('enterprise', 'suspend', rut, '--reason', 'Falta de pago')).toEqual(suspended);
    expect(await cli.refusal('enterprise', 'suspend', rut, '--reason', 'Otra')).toMatchObject({
      code: 'INVALID_INPUT',
    });
    expect(await cli.json('enterprise', 'show', rut)).toEqual(suspended);
    expect(await listed('SUSPENDED')).toEqual([suspended]);
    expect(await listed('READY')).not.toContainEqual(expect.objectContaining({ rut }));

    expect(await cli.json('enterprise', 'resume', rut)).toEqual(object);
    expect(await cli.refusal('enterprise', 'resume', rut)).toMatchObject({ code: 'INVALID_INPUT' });
  });

  test('list is a table of the most important for people', async () => {
    const rut = await anEnterprise(db.orm, accountId);

    const { stdout } = await cli.call('enterprise', 'list');

    expect(stdout).toMatch(
      /^rut +legal_name +status +is_authorized_issuer +scheduled_ready_date +plan_metadata\n/,
    );
    expect(stdout).toMatch(new RegExp(`^${rut} +Comercial Ñandú S.A. +PENDING +false +- +-$`, 'm'));
  });

  test('an unknown RUT is refused, a malformed one as well', async () => {
    const rut = aRut();
    for (const args of [['show'], ['resume'], ['suspend', '--reason', 'x']]) {
      const [verb = '', ...more] = args;
      expect(await cli.refusal('enterprise', verb, rut, ...more)).toEqual({
        code: 'NOT_FOUND',
        message: `No enterprise with RUT ${rut} is registered.`,
      });
    }
    expect(await cli.refusal('enterprise', 'show', '12')).toMatchObject({ code: 'INVALID_INPUT' });
  });
});
