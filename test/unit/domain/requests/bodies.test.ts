import { describe, expect, test } from '@jest/globals';
import * as z from 'zod';
import { CustomerBody } from '../../../../src/domain/enterprises/customer.ts';
import {
  CreateEnterprise,
  UpdateEnterprise,
  UploadCae,
  UploadCertificate,
  ValidateCredentials,
} from '../../../../src/domain/enterprises/enterprise.ts';
import { CfeExtra } from '../../../../src/domain/receipts/cfeExtra.ts';
import { CfeRequest } from '../../../../src/domain/receipts/cfeRequest.ts';
import { checkInput } from '../../../../src/domain/requests/faults.ts';
import { num } from '../../../support/receipts/exactJson.ts';

const judged = (schema: z.ZodType, input: unknown) => {
  const checked = checkInput(schema, input);
  return checked.ok ? 'taken' : checked.faults.map(({ path, code }) => `${path} ${code}`);
};

const ENTERPRISE = {
  rut: '219999830019',
  legal_name: 'Empresa SA',
  street_name: 'Calle 1234',
  locality_name: 'Montevideo',
  department_name: 'Montevideo',
  branch: num(1),
};

describe('the body of POST /enterprises', () => {
  test('needs six fields and takes three more', () => {
    expect(judged(CreateEnterprise, ENTERPRISE)).toBe('taken');
    expect(
      judged(CreateEnterprise, {
        ...ENTERPRISE,
        is_new_enterprise: true,
        trade_name: null,
        phone_number: '2900 0000',
      }),
    ).toBe('taken');
    expect(judged(CreateEnterprise, {})).toEqual(
      Object.keys(ENTERPRISE).map((field) => `/${field} body.missing`),
    );
  });

  test.each<[string, unknown, string]>([
    ['rut', '219999830018', 'rut.check_digit'],
    ['rut', num(219999830019), 'body.wrong_type'],
    ['legal_name', 'x'.repeat(151), 'text.too_long'],
    ['department_name', 'x'.repeat(31), 'text.too_long'],
    ['locality_name', 'x'.repeat(31), 'text.too_long'],
    ['street_name', 'x'.repeat(71), 'text.too_long'],
    ['street_name', '', 'text.empty'],
    ['trade_name', 'x'.repeat(31), 'text.too_long'],
    ['legal_name', null, 'body.null'],
    ['phone_number', 'x'.repeat(21), 'text.too_long'],
    ['branch', num(10_000), 'number.out_of_range'],
    ['branch', num('1.5'), 'number.not_whole'],
    ['branch', '1', 'body.wrong_type'],
    ['is_new_enterprise', 'yes', 'body.wrong_type'],
  ])('with %s %j is refused', (field, value, code) => {
    expect(judged(CreateEnterprise, { ...ENTERPRISE, [field]: value })).toEqual([`/${field} ${code}`]);
  });
});

describe('the body of PUT /enterprises/{rut}', () => {
  test('is any of its fields; the date comes out as an instant', () => {
    expect(checkInput(UpdateEnterprise, { scheduled_ready_date: '2026-03-01T09:00:00' })).toEqual({
      ok: true,
      value: { scheduled_ready_date: new Date('2026-03-01T12:00:00Z') },
    });
    expect(checkInput(UpdateEnterprise, { scheduled_ready_date: '2026-03-01T12:00:00.000Z' })).toEqual({
      ok: true,
      value: { scheduled_ready_date: new Date('2026-03-01T12:00:00Z') },
    });
    expect(judged(UpdateEnterprise, { plan_id: 'FREE', frequency_id: 'MONTHLY' })).toBe('taken');
  });

  test.each<[object, string[]]>([
    [{}, [' update.empty']],
    [{ plan_id: null }, ['/plan_id body.null']],
    [{ scheduled_ready_date: '2026-03-01 09:00:00' }, ['/scheduled_ready_date date_time.malformed']],
    [{ scheduled_ready_date: '1999-03-01T09:00:00' }, ['/scheduled_ready_date date.out_of_range']],
    [{ plan: 'FREE' }, ['/plan body.unknown_field']],
  ])('%j is refused', (body, faults) => {
    expect(judged(UpdateEnterprise, body)).toEqual(expect.arrayContaining(faults));
  });
});

describe('uploads', () => {
  test.each([
    [UploadCertificate, { cert_b64: 'QUJD', password: 'secreto' }],
    [UploadCertificate, { cert_b64: 'QUI=', password: ' x ' }],
    [UploadCertificate, { cert_b64: 'QUI', password: 'x' }],
    [UploadCertificate, { cert_b64: 'QUJD\r\nQUJD\nQQ==\n', password: 'x' }],
    [UploadCae, { cae_b64: 'QQ==', cae_start_number: num('1.0') }],
  ])('%#: taken', (schema: z.ZodType, body) => {
    expect(judged(schema, body)).toBe('taken');
  });

  test.each([
    [UploadCertificate, { cert_b64: '', password: '' }, ['/cert_b64 text.empty', '/password text.empty']],
    [UploadCertificate, { cert_b64: 'QUJDQ', password: 'x' }, ['/cert_b64 base64.malformed']],
    [UploadCertificate, { cert_b64: 'QU\nD', password: 'x' }, ['/cert_b64 base64.malformed']],
    [UploadCertificate, { cert_b64: 'QU-_', password: 'x' }, ['/cert_b64 base64.malformed']],
    [UploadCae, { cae_b64: 'QQ==', cae_start_number: num(0) }, ['/cae_start_number number.out_of_range']],
    [UploadCae, { cae_b64: 'QQ==', cae_start_number: '1' }, ['/cae_start_number body.wrong_type']],
  ])('%#: refused', (schema: z.ZodType, body, faults) => {
    expect(judged(schema, body)).toEqual(faults);
  });
});

describe('small bodies', () => {
  test.each<[string, z.ZodType, unknown, unknown]>([
    ['credentials may be those stored', ValidateCredentials, {}, 'taken'],
    ['credentials may be given', ValidateCredentials, { username: 'maria', password: 'x' }, 'taken'],
    [
      'a password alone is not enough',
      ValidateCredentials,
      { password: 'x' },
      ['/username credentials.incomplete'],
    ],
  ])('%s', (_, schema, body, answer) => {
    expect(judged(schema, body)).toEqual(answer);
  });
});

describe('a customer', () => {
  const customer = { doc_type: 'RUC', doc_number: '214844360018', legal_name: 'Cliente SA' };

  test.each<[object]>([
    [customer],
    [{ ...customer, doc_type: 'NIFE', doc_number: 'BR-1', country_code: 'BR' }],
    [
      {
        ...customer,
        fiscal_address: 'Calle 1',
        city: 'Salto',
        department: 'Salto',
        country: 'Uruguay',
        country_code: 'UY',
      },
    ],
    [
      {
        ...customer,
        notifications: [{ type: 'EMAIL', destination: 'maria@cliente.com.uy', enabled: false }],
      },
    ],
  ])('%j is taken', (body) => {
    expect(judged(CustomerBody, body)).toBe('taken');
  });

  test.each<[object, string[]]>([
    [{}, ['/doc_type body.missing', '/doc_number body.missing', '/legal_name body.missing']],
    [{ ...customer, doc_number: '214844360017' }, ['/doc_number rut.check_digit']],
    [{ ...customer, doc_number: '2148' }, ['/doc_number rut.malformed']],
    [
      { ...customer, doc_number: '2148', legal_name: null },
      ['/legal_name body.null', '/doc_number rut.malformed'],
    ],
    [{ ...customer, doc_type: 'CEDULA' }, ['/doc_type body.not_one_of']],
    [{ ...customer, doc_type: 'NIFE', doc_number: 'x'.repeat(21) }, ['/doc_number text.too_long']],
    [
      { ...customer, notifications: [{ type: 'SMS', destination: 'maria', enabled: 'no' }] },
      [
        '/notifications/0/type body.not_one_of',
        '/notifications/0/destination email.malformed',
        '/notifications/0/enabled body.wrong_type',
      ],
    ],
  ])('%j is refused', (body, faults) => {
    expect(judged(CustomerBody, body)).toEqual(faults);
  });
});

/** A field shows its type by itself, or as one of several: a text or null, all of two texts. */
const isTyped = (field: object): boolean => {
  const { anyOf, allOf } = field as { anyOf?: object[]; allOf?: object[] };
  return (
    'type' in field ||
    'enum' in field ||
    'const' in field ||
    '$ref' in field ||
    ((anyOf ?? allOf)?.every(isTyped) ?? false)
  );
};

test.each([
  ['CfeRequest', CfeRequest],
  ['CfeExtra', CfeExtra],
  ['CreateEnterprise', CreateEnterprise],
  ['UpdateEnterprise', UpdateEnterprise],
  ['UploadCertificate', UploadCertificate],
  ['UploadCae', UploadCae],
  ['ValidateCredentials', ValidateCredentials],
  ['Customer', CustomerBody],
])('%s shows every field with its type in JSON Schema', (_, schema) => {
  const shown = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  const bare = (part: object, path: string): string[] =>
    Object.entries((part as { properties?: Record<string, object> }).properties ?? {}).flatMap(
      ([name, field]) => (isTyped(field) ? bare(field, `${path}/${name}`) : [`${path}/${name}`]),
    );

  const named = Object.entries(shown.$defs ?? {});
  expect([...bare(shown, ''), ...named.flatMap(([name, part]) => bare(part, name))]).toEqual([]);
  expect(named.filter(([, part]) => !isTyped(part))).toEqual([]);
});
