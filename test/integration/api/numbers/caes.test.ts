import { describe, expect, test } from '@jest/globals';
import { addAuthorityCertificates } from '../../../../src/commands/authority/addAuthorityCertificates.ts';
import { uploadCae } from '../../../../src/commands/numbers/uploadCae.ts';
import { Cae } from '../../../../src/db/entities/numbers.ts';
import { CFE_TYPE_NAMES, CFE_TYPES } from '../../../../src/domain/receipts/cfeTypes.ts';
import { useApi } from '../../../support/api/apiSuite.ts';
import { testsOfEveryEnterpriseRoute } from '../../../support/api/everyRoute.ts';
import { expectFaults } from '../../../support/api/expectRefusal.ts';
import { outboxOf } from '../../../support/commandDeps.ts';
import { anEnterprise, aReadyEnterprise, giveCae } from '../../../support/enterprises/enterprises.ts';
import { aCfeBody } from '../../../support/receipts/cfeBodies.ts';
import {
  AUTHORITY_RUT_VARIABLES,
  anAuthority,
  aRut,
  type CaeWishes,
  day,
} from '../../../support/receipts/papers.ts';

const suite = useApi();
const pending = () => anEnterprise(suite.db.orm, suite.owner.accountId);
const path = (rut: string) => `/enterprises/${rut}/caes`;
const b64 = (text: string) => Buffer.from(text, 'utf8').toString('base64');

const post = (rut: string, cae_b64: string, cae_start_number = 1) =>
  suite.owner.client.post(path(rut), { cae_b64, cae_start_number });
const upload = (rut: string, wishes: Partial<CaeWishes> = {}, start?: number) =>
  post(rut, suite.authority.cae({ rut, ...wishes }), start ?? wishes.from ?? 1);
const held = (rut: string) => suite.db.orm.em.fork().count(Cae, { rut });

describe('POST /enterprises/{rut}/caes', () => {
  testsOfEveryEnterpriseRoute(suite, {
    method: 'POST',
    path,
    rut: pending,
    body: () => ({ cae_b64: 'AAAA', cae_start_number: 1 }),
  });

  test('201: the range, not yet used, and onboarding is told', async () => {
    const rut = await pending();

    const answer = await upload(rut, { serie: 'B', from: 101, to: 200, authorizationNumber: '90260001234' });

    expect(answer.status).toBe(201);
    expect(answer.data).toEqual({
      authorization_number: '90260001234',
      issuer_ruc: rut,
      cfe_type: 'ETICKET',
      cfe_type_code: '101',
      cfe_type_label: 'e-Ticket',
      series: 'B',
      number_start: 101,
      number_end: 200,
      last_number: 100,
      numbers_left: 100,
      issue_date: day(-30),
      expiration_date: day(700),
      status: 'OK',
    });
    expect(await outboxOf(suite.db.orm, `enterprise:${rut}`)).toMatchObject([{ signal: 'factsChanged' }]);
  });

  test('201: a range used before goes on at cae_start_number', async () => {
    const rut = await pending();
    expect((await upload(rut, { from: 1, to: 100 }, 60)).data).toMatchObject({
      number_start: 1,
      last_number: 59,
    });
    expect((await upload(rut, { serie: 'B', from: 1, to: 100 }, 100)).data).toMatchObject({
      last_number: 99,
    });
    await upload(rut, { serie: 'C', from: 1, to: 100 });
    expect(
      await suite.db.orm.em
        .fork()
        .execute('select serie, elsewhere::text from cae where rut = ? order by serie', [rut]),
    ).toEqual([
      { serie: 'A', elsewhere: '{[1,60)}' },
      { serie: 'B', elsewhere: '{[1,100)}' },
      { serie: 'C', elsewhere: '{}' },
    ]);
  });

  test.each(CFE_TYPE_NAMES)('201: one of type %s', async (type) => {
    const answer = await upload(await pending(), { code: CFE_TYPES[type].code });
    expect(answer.status).toBe(201);
    expect(answer.data).toMatchObject({ cfe_type: type, cfe_type_label: CFE_TYPES[type].label });
  });

  test('201: ranges that touch, and the same numbers in another serie or of another type', async () => {
    const rut = await pending();
    for (const wishes of [
      { from: 1, to: 100 },
      { from: 101, to: 200 },
      { from: 1, to: 100, serie: 'B' },
      { from: 1, to: 100, code: 111 },
    ]) {
      expect((await upload(rut, wishes)).status).toBe(201);
    }
  });

  test('201: one of an exempt taxpayer (special kind 1) with its cause', async () => {
    expect((await upload(await pending(), { special: { kind: 1, cause: '21' } })).status).toBe(201);
  });

  test('400: a digit of it was changed', async () => {
    const rut = await pending();
    const tampered = suite.authority.caeXml({ rut, to: 100 }).replace('HNro>100<', 'HNro>900<');
    expectFaults(await post(rut, b64(tampered)), [
      ['/cae_b64', 'cae.signature', 'The signature of the CAE is invalid: the file was changed.'],
    ]);
  });

  test('400: somebody else signed it', async () => {
    const rut = await pending();
    expectFaults(await post(rut, anAuthority('stranger').cae({ rut })), [
      ['/cae_b64', 'cae.untrusted_signer', 'The CAE must be signed by the tax authority.'],
    ]);
  });

  test('400: the authority signed it for its other environment', async () => {
    const rut = await pending();
    const sandbox = anAuthority('sandbox', { rut: AUTHORITY_RUT_VARIABLES.sandbox });
    await addAuthorityCertificates(
      { ...suite.api.deps, authorityRuts: AUTHORITY_RUT_VARIABLES },
      { pem: sandbox.certificatePem },
    );

    expectFaults(await post(rut, sandbox.cae({ rut })), [
      ['/cae_b64', 'cae.untrusted_signer', 'The CAE must be signed by the tax authority.'],
    ]);
    const file = Buffer.from(sandbox.cae({ rut }), 'base64');
    const upload = uploadCae(suite.api.deps, { rut, file, startNumber: 1, environment: 'sandbox' });
    expect(await upload).toMatchObject({ environment: 'sandbox' });
    const ours = Buffer.from(suite.authority.cae({ rut }), 'base64');
    await expect(
      uploadCae(suite.api.deps, { rut, file: ours, startNumber: 1, environment: 'sandbox' }),
    ).rejects.toMatchObject({ faults: [{ code: 'cae.untrusted_signer' }] });
  });

  test('400: the authority signed it with a certificate that had ended; one that ended since will do', async () => {
    const rut = await pending();
    const ended = anAuthority('ended', { notAfter: new Date(Date.now() - 20 * 86_400_000) });
    await addAuthorityCertificates(
      { ...suite.api.deps, authorityRuts: AUTHORITY_RUT_VARIABLES },
      { pem: ended.certificatePem },
    );

    expectFaults(await post(rut, ended.cae({ rut, issueDate: day(-10) })), [
      [
        '/cae_b64',
        'cae.signer_not_valid',
        'The certificate of the tax authority was not valid when it signed the CAE.',
      ],
    ]);
    expect((await post(rut, ended.cae({ rut, issueDate: day(-30) }))).status).toBe(201);
  });

  test('400: it is that of another RUT', async () => {
    const rut = await pending();
    const other = aRut();
    expectFaults(await upload(rut, { rut: other }), [
      ['/cae_b64', 'cae.other_rut', `The CAE must be for RUT ${rut}, found "${other}".`],
    ]);
  });

  test('400: the same again', async () => {
    const rut = await pending();
    const cae = suite.authority.cae({ rut, authorizationNumber: '90260007777' });
    await post(rut, cae);
    expectFaults(await post(rut, cae), [
      ['/cae_b64', 'cae.known', 'The enterprise already has the CAE "90260007777".'],
    ]);
    expect(await held(rut)).toBe(1);
  });

  test('400: its range overlaps one that is held', async () => {
    const rut = await pending();
    await upload(rut, { from: 1, to: 100, authorizationNumber: '90260008888' });
    expectFaults(await upload(rut, { from: 100, to: 200 }), [
      [
        '/cae_b64',
        'cae.overlap',
        'The range 100 to 200 overlaps CAE 90260008888 (1 to 100) of the same type and serie.',
      ],
    ]);
  });

  test('400: of the same CAE ten times at once one is taken', async () => {
    const rut = await pending();
    const cae = suite.authority.cae({ rut });
    const answers = await Promise.all(Array.from({ length: 10 }, () => post(rut, cae)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(9);
    expect(await held(rut)).toBe(1);
  });

  test.each([0, 9, 21])('400: cae_start_number %i is outside the range', async (start) => {
    const answer = await upload(await pending(), { from: 10, to: 20 }, start);
    const fault: [string, string, RegExp] =
      start === 0
        ? ['/cae_start_number', 'number.out_of_range', /must be an integer from 1 to 9999999, found 0/]
        : [
            '/cae_start_number',
            'cae.start_out_of_range',
            /must lie within the range of the CAE, 10 to 20, found/,
          ];
    expectFaults(answer, [fault]);
  });

  test('400: it has expired; on its last day it has not', async () => {
    const rut = await pending();
    expectFaults(await upload(rut, { expirationDate: day(-1) }), [
      ['/cae_b64', 'cae.expired', `The CAE expired on ${day(-1)}; today is ${day(0)}.`],
    ]);
    expect((await upload(rut, { expirationDate: day(0) })).status).toBe(201);
  });

  test('400: it is not in force yet', async () => {
    expectFaults(await upload(await pending(), { issueDate: day(1) }), [
      ['/cae_b64', 'cae.not_yet_valid', `The CAE is valid only from ${day(1)}; today is ${day(0)}.`],
    ]);
  });

  test.each([2, 3, 4])('201: it is of special kind %i', async (kind) => {
    expect((await upload(await pending(), { special: { kind, cause: '21' } })).status).toBe(201);
  });

  test('400: special kind 1 without its cause', async () => {
    expectFaults(await upload(await pending(), { special: { kind: 1 } }), [
      ['/cae_b64', 'cae.special_cause', /must name its cause in up to 3 digits, found none/],
    ]);
  });

  test('400: it is for a type that the service does not issue, and all else that is wrong', async () => {
    expectFaults(await upload(await pending(), { code: 181, from: 5, to: 4 }, 5), [
      ['/cae_b64', 'cae.type', /found 181\.$/],
      [
        '/cae_b64',
        'cae.range',
        'The range must lie between 1 and 9999999 and must not be empty, found 5 to 4.',
      ],
    ]);
  });

  test.each([
    ['text', 'hello world!'],
    ['another XML', '<a/>'],
    ['XML with a DOCTYPE', '<!DOCTYPE CAE [<!ENTITY a "b">]><CAE>&a;</CAE>'],
    ['a part of a CAE', '<CAE xmlns="http://cfe.dgi.gub.uy" version="1.0"><DA></DA></CAE>'],
  ])('400: the file is %s', async (_what, text) => {
    expectFaults(await post(await pending(), b64(text)), [['/cae_b64', 'cae.malformed', /CAE/]]);
  });

  test('400: every fault of the body at once', async () => {
    const answer = await suite.owner.client.post(path(await pending()), { cae_b64: '*', start_number: 1 });
    expectFaults(answer, [
      ['/cae_b64', 'base64.malformed', /^cae_b64: must be a file in base64/],
      ['/cae_start_number', 'body.missing', 'cae_start_number: is required and must be a number.'],
      ['/start_number', 'body.unknown_field', /^start_number: unknown field/],
    ]);
  });
});

describe('GET /enterprises/{rut}/caes', () => {
  testsOfEveryEnterpriseRoute(suite, { method: 'GET', path, rut: pending });

  test('200: all of them, or those of one status', async () => {
    const rut = await pending();
    await giveCae(suite.db.orm, rut, { serie: 'A', expirationDate: day(-1) });
    await giveCae(suite.db.orm, rut, { serie: 'B', expirationDate: day(0) });
    await giveCae(suite.db.orm, rut, { serie: 'C', from: 1, to: 5, last: 5 });
    await giveCae(suite.db.orm, rut, { serie: 'D', environment: 'sandbox' });
    const series = async (query: string) => {
      const { data } = await suite.owner.client.get<{ series: string }[]>(path(rut) + query);
      return data.map((cae) => cae.series).join('');
    };

    expect(await series('')).toBe('ABC');
    expect(await series('?status=OK')).toBe('BC');
    expect(await series('?status=EXPIRED')).toBe('A');
  });

  test('200: with the numbers left, and for how many days at the pace of the last four weeks', async () => {
    const rut = await aReadyEnterprise(suite.db.orm, suite.owner.accountId, {
      caes: [
        { from: 1, to: 102 },
        { type: 'EFACTURA', from: 11, to: 20, last: 15 },
      ],
    });
    for (let i = 0; i < 2; i += 1) await suite.owner.client.post(`/enterprises/${rut}/cfes`, aCfeBody());

    const { data } = await suite.owner.client.get<{ numbers_left: number; days_left: number | null }[]>(
      path(rut),
    );

    expect(data.map(({ numbers_left, days_left }) => [numbers_left, days_left])).toEqual([
      [100, 1400],
      [5, null],
    ]);
  });

  test('200: one without numbers left is OK and says so, and the enterprise says which type it cannot issue', async () => {
    const rut = await aReadyEnterprise(suite.db.orm, suite.owner.accountId, {
      caes: [
        { from: 1, to: 2 },
        { type: 'EFACTURA', last: 15 },
      ],
      values: { issuerSince: '2012-03-01' },
    });
    // The value that the first migration loads.
    const ESTIMATE = { code: 'enterprise.ui_value_estimated' };
    const enterprise = async () =>
      (
        await suite.owner.client.get<{
          caes: { status: string; numbers_left: number }[];
          warnings: { code: string; message: string }[];
        }>(`/enterprises/${rut}`)
      ).data;
    expect(await enterprise()).toMatchObject({ caes: [{ numbers_left: 2 }, {}], warnings: [ESTIMATE] });
    for (let i = 0; i < 2; i += 1) await suite.owner.client.post(`/enterprises/${rut}/cfes`, aCfeBody());

    const used = { status: 'OK', last_number: 2, numbers_left: 0 };
    expect((await suite.owner.client.get(path(rut))).data).toMatchObject([used, { status: 'OK' }]);
    const { caes, warnings } = await enterprise();
    expect(caes).toMatchObject([used, { numbers_left: 9985 }]);
    expect(warnings).toMatchObject([
      {
        code: 'enterprise.no_numbers',
        message: 'No CAE of type ETICKET is valid and has numbers left; upload one.',
      },
      ESTIMATE,
    ]);

    await upload(rut, { serie: 'B' });
    expect((await enterprise()).warnings).toMatchObject([ESTIMATE]);
  });

  test('200: where it does not go on where another system stopped, it and the enterprise say so', async () => {
    const start = { number: 500, findings: ['before_unknown' as const] };
    const rut = await aReadyEnterprise(suite.db.orm, suite.owner.accountId, {
      caes: [{}, { serie: 'B', start }],
      values: { issuerSince: '2012-03-01' },
    });
    const message = expect.stringMatching(/^The tax authority does not know ETICKET B 499, /) as unknown;
    const warning = { code: 'cae.number_before_unknown', message };
    expect((await suite.owner.client.get(path(rut))).data).toMatchObject([
      { warnings: [] },
      { last_number: 499, warnings: [warning] },
    ]);
    expect((await suite.owner.client.get(`/enterprises/${rut}`)).data).toMatchObject({
      warnings: [warning, { code: 'enterprise.ui_value_estimated' }],
    });
  });

  test('200: none is an empty list', async () => {
    expect((await suite.owner.client.get(path(await pending()))).data).toEqual([]);
  });

  test('400: a status that does not exist', async () => {
    expectFaults(await suite.owner.client.get(`${path(await pending())}?status=USED`), [
      ['/query/status', 'body.not_one_of', /must be one of "OK", "EXPIRED", found "USED"/],
    ]);
  });
});
