import { describe, expect, test } from '@jest/globals';
import { useApi } from '../../../support/api/apiSuite.ts';
import { expectFaults, expectRefusal } from '../../../support/api/expectRefusal.ts';
import { outboxOf } from '../../../support/commandDeps.ts';
import { enterpriseBody } from '../../../support/enterprises/enterprises.ts';
import { aRut } from '../../../support/receipts/papers.ts';

const suite = useApi();

describe('POST /enterprises', () => {
  test('201: the enterprise, PENDING, with null for what it has not yet', async () => {
    const rut = aRut();

    const answer = await suite.owner.client.post('/enterprises', {
      ...enterpriseBody(rut),
      trade_name: 'Ñandú',
      is_new_enterprise: true,
      phone_number: '29021234',
    });

    expect(answer.status).toBe(201);
    expect(answer.data).toEqual({
      rut,
      legal_name: 'Comercial Ñandú S.A.',
      trade_name: 'Ñandú',
      street_name: 'Rincón 501',
      locality_name: 'Montevideo',
      department_name: 'Montevideo',
      branch: 1,
      phone_number: '29021234',
      email: null,
      website: null,
      issuer_since: null,
      resolution: null,
      exemption_norm: null,
      vat_up_to_date: true,
      small_tickets: 'SEND',
      has_logo: false,
      role: 'OWNER',
      status: 'PENDING',
      is_new_enterprise: true,
      is_authorized_issuer: false,
      scheduled_ready_date: null,
      certificate: { status: 'NONE', subject: null, emission_date: null, expiration_date: null },
      caes: [],
      plan_metadata: null,
      efactura_metadata: {
        status: 'NOT_VALIDATED',
        login_status: 'NOT_ATTEMPTED',
        permissions: [],
        missing_perms: ['HOMO', 'PROD'],
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
    });
    expect(await outboxOf(suite.db.orm, `enterprise:${rut}`)).toHaveLength(1);
  });

  test('201: only what is required is required', async () => {
    const answer = await suite.owner.client.post('/enterprises', enterpriseBody());
    expect(answer.status).toBe(201);
    expect(answer.data).toMatchObject({ trade_name: null, is_new_enterprise: false });
  });

  test('400 ALREADY_EXISTS: the RUT is registered, be it by another account', async () => {
    const rut = aRut();
    await suite.owner.client.post('/enterprises', enterpriseBody(rut));

    const answer = await suite.stranger.client.post('/enterprises', enterpriseBody(rut));

    expect(expectRefusal(answer, 400, 'ALREADY_EXISTS').message).toBe(
      `An enterprise with RUT ${rut} is already registered.`,
    );
  });

  test('400: every fault of the body at once', async () => {
    const answer = await suite.owner.client.post('/enterprises', {
      rut: '219999830018',
      legal_name: 'x'.repeat(151),
      departament_name: 'Montevideo',
      locality_name: '',
      street_name: null,
      branch: 1.5,
      is_new_enterprise: 'no',
      trade_name: 'a\tb',
    });

    expectFaults(answer, [
      ['/rut', 'rut.check_digit', 'rut: 219999830018 ends in 8, but its check digit is 9.'],
      ['/legal_name', 'text.too_long', 'legal_name: must have at most 150 characters, found 151.'],
      ['/department_name', 'body.missing', 'department_name: is required and must be a string.'],
      ['/departament_name', 'body.unknown_field', /did you mean "department_name"/],
      ['/locality_name', 'text.empty', /must not be empty or blank/],
      ['/street_name', 'body.null', /must not be null/],
      ['/branch', 'number.not_whole', 'branch: must be an integer, found 1.5.'],
      ['/is_new_enterprise', 'body.wrong_type', /must be true or false, found a string/],
      ['/trade_name', 'text.control_character', /U\+0009/],
    ]);
  });

  test.each([
    ['21.999.983.0019', 'rut.malformed'],
    ['2199998300', 'rut.malformed'],
    ['', 'rut.malformed'],
    ['219999830010', 'rut.check_digit'],
  ])('400: the RUT %j is refused as %s', async (rut, code) => {
    expectFaults(await suite.owner.client.post('/enterprises', enterpriseBody(rut)), [
      ['/rut', code, /^rut: /],
    ]);
  });

  test('400: a key twice is refused, not the last one taken', async () => {
    const text = JSON.stringify(enterpriseBody()).replace('"branch":1', '"branch":1,"branch":2');
    expectFaults(await suite.owner.client.post('/enterprises', text), [
      ['/branch', 'body.duplicate_key', 'branch: must not be given twice.'],
    ]);
  });

  test('400: X-Sandbox-Mode true; 403: a sandbox key', async () => {
    const live = suite.owner.client.with({ 'x-sandbox-mode': 'true' });
    expectRefusal(await live.post('/enterprises', enterpriseBody()), 400, 'INVALID_INPUT');
    const sandbox = suite.sandbox.client.with({ 'x-sandbox-mode': 'false' });
    expectRefusal(await sandbox.post('/enterprises', enterpriseBody()), 403, 'FORBIDDEN');
  });

  test('401: without key or token', async () => {
    expectRefusal(await suite.api.client.post('/enterprises', enterpriseBody()), 401, 'UNAUTHORIZED');
  });

  test('405: another method, with those that are allowed', async () => {
    const answer = await suite.owner.client.send('DELETE', '/enterprises');
    expectRefusal(answer, 405, 'METHOD_NOT_ALLOWED');
    expect(answer.headers.get('allow')).toContain('POST');
  });

  test('413 and 415: too large a body, and one that is not JSON', async () => {
    const { client } = suite.owner;
    const large = { ...enterpriseBody(), street_name: 'x'.repeat(20_000) };
    expectRefusal(await client.post('/enterprises', large), 413, 'PAYLOAD_TOO_LARGE');
    const headers = { 'content-type': 'application/xml' };
    expectRefusal(
      await client.send('POST', '/enterprises', { body: '<a/>', headers }),
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    );
  });
});
