import { describe, expect, test } from '@jest/globals';
import { useApi } from '../../../support/api/apiSuite.ts';
import { testsOfEveryEnterpriseRoute } from '../../../support/api/everyRoute.ts';
import { expectFaults } from '../../../support/api/expectRefusal.ts';
import { outboxOf } from '../../../support/commandDeps.ts';
import { anEnterprise, aReadyEnterprise } from '../../../support/enterprises/enterprises.ts';
import { day } from '../../../support/receipts/papers.ts';

const suite = useApi();
const pending = () => anEnterprise(suite.db.orm, suite.owner.accountId);
const path = (rut: string) => `/enterprises/${rut}`;

describe('GET /enterprises/{rut}', () => {
  testsOfEveryEnterpriseRoute(suite, { method: 'GET', path, rut: pending });

  test('200: the enterprise with its papers', async () => {
    const rut = await aReadyEnterprise(suite.db.orm, suite.owner.accountId, {
      caes: [
        { from: 11, to: 20, last: 15 },
        { type: 'EFACTURA_EXPORT_NC', expirationDate: day(-1) },
      ],
    });

    const answer = await suite.owner.client.get<Record<string, unknown>>(path(rut));

    expect(answer.status).toBe(200);
    expect(answer.data).toEqual({
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
      role: 'OWNER',
      status: 'READY',
      is_new_enterprise: false,
      is_authorized_issuer: true,
      scheduled_ready_date: '2026-01-01T03:00:00.000Z',
      certificate: {
        status: 'VALID',
        subject: 'Comercial Ñandú S.A.',
        emission_date: '2019-12-31',
        expiration_date: day(365),
      },
      caes: [
        {
          authorization_number: expect.stringMatching(/^\d{11}$/),
          issuer_ruc: rut,
          cfe_type: 'ETICKET',
          cfe_type_code: '101',
          cfe_type_label: 'e-Ticket',
          series: 'A',
          number_start: 11,
          number_end: 20,
          last_number: 15,
          numbers_left: 5,
          issue_date: '2020-01-01',
          expiration_date: day(365),
          status: 'OK',
        },
        expect.objectContaining({
          cfe_type_code: '122',
          expiration_date: day(-1),
          status: 'EXPIRED',
          last_number: 0,
        }),
      ],
      plan_metadata: { plan_id: 'FREE', frequency_id: 'MONTHLY' },
      efactura_metadata: {
        status: 'VALID',
        login_status: 'SUCCESS',
        permissions: ['HOMO', 'PROD'],
        missing_perms: [],
      },
      warnings: [
        { code: 'enterprise.no_numbers', message: expect.stringContaining('type EFACTURA_EXPORT_NC') },
        {
          code: 'enterprise.no_issuer_since',
          message: expect.stringContaining('issuer_since or resolution'),
        },
        {
          code: 'enterprise.ui_value_estimated',
          message: expect.stringContaining('UI value of 2026'),
        },
      ],
    });
  });

  test('200: a suspended enterprise can be read', async () => {
    const rut = await anEnterprise(suite.db.orm, suite.owner.accountId, {
      status: 'SUSPENDED',
      statusBeforeSuspension: 'READY',
    });
    expect((await suite.owner.client.get(path(rut))).data).toMatchObject({ status: 'SUSPENDED' });
  });
});

describe.each(['PUT', 'PATCH'] as const)('%s /enterprises/{rut}', (method) => {
  const update = (rut: string, body: unknown) => suite.owner.client.send(method, path(rut), { body });

  testsOfEveryEnterpriseRoute(suite, {
    method,
    path,
    rut: pending,
    body: () => ({ plan_id: 'FREE', frequency_id: 'MONTHLY' }),
  });

  test('200: five fields, the date in UTC, and onboarding is told', async () => {
    const rut = await pending();

    const answer = await update(rut, {
      scheduled_ready_date: '2026-03-01T09:30:00',
      plan_id: 'STANDARD',
      frequency_id: 'YEARLY',
    });

    expect(answer.status).toBe(200);
    expect(answer.data).toEqual({
      rut,
      legal_name: 'Comercial Ñandú S.A.',
      status: 'PENDING',
      scheduled_ready_date: '2026-03-01T12:30:00.000Z',
      plan_metadata: { plan_id: 'STANDARD', frequency_id: 'YEARLY' },
    });
    expect(await outboxOf(suite.db.orm, `enterprise:${rut}`)).toEqual([
      { workflow: 'onboardEnterprise', signal: 'factsChanged', input: { rut } },
    ]);
  });

  test('200: each field alone leaves the others as they are', async () => {
    const rut = await pending();
    await update(rut, { plan_id: 'STANDARD', frequency_id: 'YEARLY' });

    expect((await update(rut, { scheduled_ready_date: '2026-12-31T23:59:59' })).data).toMatchObject({
      scheduled_ready_date: '2027-01-01T02:59:59.000Z',
      plan_metadata: { plan_id: 'STANDARD', frequency_id: 'YEARLY' },
    });
    expect((await update(rut, { frequency_id: 'MONTHLY' })).data).toMatchObject({
      plan_metadata: { plan_id: 'STANDARD', frequency_id: 'MONTHLY' },
    });
  });

  test('400: no field at all', async () => {
    expectFaults(await update(await pending(), {}), [
      ['', 'update.empty', 'At least one field must be given.'],
    ]);
  });

  test('400: a plan that is not on sale, or half of one', async () => {
    const rut = await pending();
    expectFaults(await update(rut, { plan_id: 'GOLD', frequency_id: 'MONTHLY' }), [
      [
        '/plan_id',
        'plan.unknown',
        'plan_id, frequency_id: no plan "GOLD" with frequency "MONTHLY" is on sale.',
      ],
    ]);
    expectFaults(await update(rut, { plan_id: 'FREE' }), [
      [
        '/frequency_id',
        'plan.incomplete',
        'frequency_id: is required with plan_id: the enterprise has no plan yet.',
      ],
    ]);
  });

  test.each([
    '2026-03-01',
    '2026-02-30T00:00:00',
    '2026-02-30T00:00:00Z',
    '2026-03-01T09:30Z',
    '2026-03-01 09:30:00',
  ])('400: %j is no date and time', async (scheduled_ready_date) => {
    expectFaults(await update(await pending(), { scheduled_ready_date }), [
      [
        '/scheduled_ready_date',
        'date_time.malformed',
        /YYYY-MM-DDTHH:MM:SS in Montevideo, or with its time zone/,
      ],
    ]);
  });

  test('400: unknown fields by name, and wrong types, all at once', async () => {
    expectFaults(await update(await pending(), { plan: 'FREE', plan_id: 7, state: 'READY' }), [
      ['/plan', 'body.unknown_field', /^plan: unknown field/],
      ['/state', 'body.unknown_field', /^state: unknown field/],
      ['/plan_id', 'body.wrong_type', 'plan_id: must be a string, found a number.'],
    ]);
  });
});

describe('POST /enterprises/{rut}/validate-efactura', () => {
  const check = (rut: string, body?: unknown) =>
    suite.owner.client.post(`/enterprises/${rut}/validate-efactura`, body);

  testsOfEveryEnterpriseRoute(suite, {
    method: 'POST',
    path: (rut) => `/enterprises/${rut}/validate-efactura`,
    rut: pending,
    body: () => ({}),
  });

  test.each([
    ['a login', { username: 'contadora', password: 'secreta' }],
    ['an empty object', {}],
    ['no body', undefined],
  ])('202 with %s: the check is in progress', async (_what, body) => {
    const rut = await pending();

    const answer = await check(rut, body);

    expect(answer.status).toBe(202);
    expect(answer.data).toEqual({ is_valid: false, status: 'VALIDATING', last_validated_at: null });
    expect(await outboxOf(suite.db.orm, `credentials:${rut}`)).toEqual([
      { workflow: 'validateCredentials', signal: 'validateAgain', input: { rut } },
    ]);
  });

  test('202: what was found before stands until the new check ends', async () => {
    const lastValidatedAt = new Date('2026-04-01T10:00:00Z');
    const rut = await aReadyEnterprise(suite.db.orm, suite.owner.accountId, {
      caes: [],
      values: { lastValidatedAt },
    });
    expect((await check(rut)).data).toEqual({
      is_valid: true,
      status: 'VALIDATING',
      last_validated_at: '2026-04-01T10:00:00.000Z',
    });
  });

  test('400: half a login, or fields that nobody knows', async () => {
    const rut = await pending();
    expectFaults(await check(rut, { username: 'contadora' }), [
      ['/password', 'credentials.incomplete', /username and password must be given together/],
    ]);
    expectFaults(await check(rut, { user: 'contadora' }), [
      ['/user', 'body.unknown_field', /^user: unknown field/],
    ]);
    expect(await outboxOf(suite.db.orm, `credentials:${rut}`)).toEqual([]);
  });

  test('no password stands in the log', async () => {
    await check(await pending(), { username: 'contadora', password: 'no-me-escribas' });
    expect(JSON.stringify(suite.api.lines)).not.toMatch(/contadora|no-me-escribas/);
  });
});

describe('GET /enterprises/{rut}/efactura-status', () => {
  testsOfEveryEnterpriseRoute(suite, {
    method: 'GET',
    path: (rut) => `/enterprises/${rut}/efactura-status`,
    rut: pending,
  });

  test('200: before any check, and as the last one left it', async () => {
    const lastValidatedAt = new Date('2026-04-01T10:00:00Z');
    const rut = await pending();
    const failed = await anEnterprise(suite.db.orm, suite.owner.accountId, {
      efacturaStatus: 'INVALID',
      loginStatus: 'FAILED',
      lastValidatedAt,
    });
    const status = async (of: string) =>
      (await suite.owner.client.get(`/enterprises/${of}/efactura-status`)).data;

    expect(await status(rut)).toEqual({ is_valid: false, status: 'NOT_VALIDATED', last_validated_at: null });
    expect(await status(failed)).toEqual({
      is_valid: false,
      status: 'INVALID',
      last_validated_at: '2026-04-01T10:00:00.000Z',
    });
  });
});
