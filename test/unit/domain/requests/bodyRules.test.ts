import { describe, expect, test } from '@jest/globals';
import * as z from 'zod';
import { requireUnchanged } from '../../../../src/api/readBack.ts';
import { CustomerBody } from '../../../../src/domain/enterprises/customer.ts';
import {
  CreateEnterprise,
  UpdateEnterprise,
  UploadCertificate,
  ValidateCredentials,
} from '../../../../src/domain/enterprises/enterprise.ts';
import { CfeCursor, Serie } from '../../../../src/domain/operations/parseSearch.ts';
import { readExtra } from '../../../../src/domain/receipts/cfeExtra.ts';
import { CfeId } from '../../../../src/domain/receipts/cfeId.ts';
import {
  CfeRequest,
  OLDER_LAYOUT,
  RequestLine,
  RequestPayments,
  RequestReceiver,
  RequestTotals,
} from '../../../../src/domain/receipts/cfeRequest.ts';
import { BODY_RULES, type BodyRule } from '../../../../src/domain/requests/bodyRules.ts';
import { checkInput, limitFaults } from '../../../../src/domain/requests/faults.ts';
import { Moment } from '../../../../src/domain/values/dates.ts';
import { JsonNumber } from '../../../../src/domain/values/decimal.ts';
import { type Fault, Refusal } from '../../../../src/errors.ts';
import { aPng } from '../../../support/console/pictures.ts';
import { num } from '../../../support/receipts/exactJson.ts';

const faultsOf = (schema: z.ZodType, input: unknown): readonly Fault[] => {
  const checked = checkInput(schema, input, { hints: OLDER_LAYOUT });
  return checked.ok ? [] : checked.faults;
};
/** A schema with one field in the depth of the request, so that messages read as they do there. */
const totals = (field: keyof typeof RequestTotals.shape) =>
  z.strictObject({
    header: z.strictObject({ totals: z.strictObject({ [field]: RequestTotals.shape[field] }) }),
  });
const ofTotals = (field: keyof typeof RequestTotals.shape, value?: unknown) =>
  faultsOf(totals(field), { header: { totals: value === undefined ? {} : { [field]: value } } });
const line = (field: keyof typeof RequestLine.shape) =>
  z.strictObject({ details: z.array(z.strictObject({ [field]: RequestLine.shape[field] })) });
const ofLine = (field: keyof typeof RequestLine.shape, value: unknown) =>
  faultsOf(line(field), { details: [{ [field]: value }] });
const ofReceiver = (fields: object) =>
  faultsOf(z.strictObject({ header: z.strictObject({ receiver: RequestReceiver }) }), {
    header: { receiver: fields },
  });
const only = (schema: z.ZodObject, field: string, value: unknown) =>
  faultsOf(z.strictObject({ [field]: schema.shape[field] as z.ZodType }), { [field]: value });

/** How each code is earned; the fault is that of its example. */
const EARNED: Record<BodyRule, () => readonly Fault[]> = {
  'body.malformed': () => readExtra('{').faults,
  'body.too_many_values': () => readExtra(`[${'1,'.repeat(20_000)}1]`).faults,
  'body.duplicate_key': () => readExtra('{"adenda": "a", "adenda": "b"}').faults,
  'body.missing': () => ofTotals('pay_amount'),
  'body.null': () => ofReceiver({ city: null }),
  'body.wrong_type': () => ofTotals('pay_amount', '122.00'),
  'body.not_one_of': () => ofTotals('currency', 'BRL'),
  'body.unknown_field': () =>
    faultsOf(z.strictObject({ receiver: z.string().optional() }), { recevier: 'x' }),
  'body.read_only': () => {
    try {
      requireUnchanged({ status: 'SUSPENDED' }, { status: 'READY' });
      return [];
    } catch (error) {
      return error instanceof Refusal ? error.faults : [];
    }
  },
  'body.more_faults': () =>
    limitFaults(
      Array.from({ length: 1204 }, (_, i) => ({ path: `/${i}`, code: 'text.empty', message: '' })),
    ).slice(1000),
  'list.too_short': () => only(CfeRequest, 'details', []),
  'list.too_long': () =>
    only(
      CustomerBody,
      'notifications',
      Array.from({ length: 21 }, () => ({ type: 'EMAIL', destination: 'a@b.uy', enabled: true })),
    ),
  'text.empty': () => ofLine('item_name', ' '),
  'text.too_long': () => ofLine('item_name', 'x'.repeat(81)),
  'text.control_character': () => ofLine('item_name', 'Sill\ta'),
  'text.invalid_character': () => ofLine('item_name', 'Sill\uFFFFa'),
  'number.too_many_decimals': () => ofTotals('pay_amount', num('122.005')),
  'number.too_large': () => ofTotals('exchange_rate', num('10000')),
  'number.negative': () => ofLine('unit_price', num('-1')),
  'number.not_whole': () => ofLine('line_number', num('1.5')),
  'number.out_of_range': () => only(CreateEnterprise, 'branch', num('10000')),
  'date.malformed': () =>
    faultsOf(z.strictObject({ header: CfeRequest.shape.header.pick({ doc_id: true }) }), {
      header: { doc_id: { emission_date: '2026-02-30', payment_method: '1' } },
    }),
  'date.out_of_range': () => readExtra('{"due_date": "1999-12-31"}').faults,
  'moment.malformed': () =>
    faultsOf(z.strictObject({ query: z.strictObject({ created_from: Moment }) }), {
      query: { created_from: 'yesterday' },
    }),
  'cursor.malformed': () =>
    faultsOf(z.strictObject({ query: z.strictObject({ after: CfeCursor }) }), { query: { after: 'x' } }),
  'serie.malformed': () =>
    faultsOf(z.strictObject({ query: z.strictObject({ serie: Serie }) }), { query: { serie: 'a1' } }),
  'date_time.malformed': () => faultsOf(UpdateEnterprise, { scheduled_ready_date: '2026-03-01' }),
  'rut.malformed': () => only(CreateEnterprise, 'rut', '21.234'),
  'document.ci': () =>
    faultsOf(CustomerBody, { doc_type: 'CI', doc_number: '12345673', legal_name: 'Ana Díaz' }),
  'document.nie': () =>
    faultsOf(CustomerBody, { doc_type: 'NIE', doc_number: '93.402.010-1', legal_name: 'Ana Díaz' }),
  'body.one_of': () => ofLine('discounts', [{ percent: new JsonNumber('10'), amount: new JsonNumber('1') }]),
  'payment.code': () =>
    faultsOf(z.strictObject({ header: z.strictObject({ payments: RequestPayments }) }), {
      header: { payments: [{ description: 'x', amount: new JsonNumber('1'), code: 'EFVO' }] },
    }),
  'rut.check_digit': () => only(CreateEnterprise, 'rut', '219999830018'),
  'country.unknown': () => ofReceiver({ country_code: 'XK' }),
  'cfe_id.malformed': () =>
    faultsOf(z.strictObject({ reference: z.strictObject({ cfe_id: CfeId }) }), {
      reference: { cfe_id: '101-01' },
    }),
  'references.type_code': () => only(CfeRequest, 'references', [{ cfe_type_code: '999' }]),
  'extra.not_object': () => readExtra('[]').faults,
  'extra.too_deep': () => readExtra(`{"mine": ${'['.repeat(30)}${']'.repeat(30)}}`).faults,
  'extra.too_large': () => readExtra(JSON.stringify({ mine: 'x'.repeat(20_000) })).faults,
  'base64.malformed': () => only(UploadCertificate, 'cert_b64', 'not base64'),
  'update.empty': () => faultsOf(UpdateEnterprise, {}),
  'credentials.incomplete': () => faultsOf(ValidateCredentials, { username: 'maria' }),
  'website.malformed': () => faultsOf(UpdateEnterprise, { website: 'our shop' }),
  'resolution.malformed': () => faultsOf(UpdateEnterprise, { resolution: '798-2012' }),
  'logo.unusable': () => faultsOf(UpdateEnterprise, { logo_b64: aPng(3000, 2000).toString('base64') }),
  'email.malformed': () =>
    only(CustomerBody, 'notifications', [{ type: 'EMAIL', destination: 'maria', enabled: true }]),
};

describe('every code of the shape of a body', () => {
  test.each(Object.entries(EARNED))('%s is earned, alone, with the message of its row', (code, earn) => {
    const faults = earn();

    expect(faults.map((fault) => [fault.code, fault.message])).toEqual([
      [code, BODY_RULES[code as BodyRule].example],
    ]);
  });
});
