import { describe, expect, test } from '@jest/globals';
import * as z from 'zod';
import { CfeRequest, OLDER_LAYOUT } from '../../../../src/domain/receipts/cfeRequest.ts';
import { checkInput, MAX_FAULTS, pointer } from '../../../../src/domain/requests/faults.ts';
import { num } from '../../../support/receipts/exactJson.ts';

const faultsOf = (input: unknown, schema: z.ZodType = CfeRequest) => {
  const checked = checkInput(schema, input, { hints: OLDER_LAYOUT });
  return checked.ok ? [] : checked.faults;
};
const messageAt = (path: string, input: unknown) =>
  faultsOf(input).find((fault) => fault.path === path)?.message;

describe('an unknown field', () => {
  test.each([
    ['cfe_type_code', 'cfe_type_code: unknown field; use cfe_type with the name of the type (ETICKET).'],
    ['items', 'items: unknown field; use details.'],
    ['payment_methods', 'payment_methods: unknown field; use header.doc_id.payment_method.'],
    ['cfe_typ', 'cfe_typ: unknown field; did you mean "cfe_type"?'],
    ['detials', 'detials: unknown field; did you mean "details"?'],
    ['type', 'type: unknown field; did you mean "cfe_type"?'],
    ['Header', 'Header: unknown field; did you mean "header"?'],
    ['emission_date', 'emission_date: unknown field; it belongs at header.doc_id.emission_date.'],
    ['receiver', 'receiver: unknown field; it belongs at header.receiver.'],
    ['nonsense', 'nonsense: unknown field.'],
    ['constructor', 'constructor: unknown field.'],
    ['__proto__', '__proto__: unknown field.'],
    ['toString', 'toString: unknown field.'],
  ])('%s is told with what to use instead', (name, message) => {
    const input = JSON.parse(`{${JSON.stringify(name)}: 1}`) as unknown;

    expect(messageAt(`/${name}`, input)).toBe(message);
  });

  test('inside lists and objects is compared with the fields there', () => {
    expect(messageAt('/details/0/item_nme', { details: [{ item_nme: 'x' }] })).toBe(
      'details[0].item_nme: unknown field; did you mean "item_name"?',
    );
    expect(messageAt('/header/receiver/legal_nam', { header: { receiver: { legal_nam: 'x' } } })).toContain(
      '"legal_name"',
    );
  });

  test('with slashes and tildes in its name is pointed at by RFC 6901', () => {
    expect(messageAt('/a~1b~0c', { 'a/b~c': 1 })).toBe('a/b~c: unknown field.');
    expect(pointer(['a/b', 0, '~'])).toBe('/a~1b/0/~0');
  });

  test('with a long or dirty name is echoed short and clean', () => {
    const [fault] = faultsOf({ [`\u0007${'x'.repeat(500)}`]: 1 }, z.strictObject({}));

    expect(fault?.message).toBe(`\u{FFFD}${'x'.repeat(39)}…: unknown field.`);
  });
});

describe('a number in place of an object', () => {
  test.each<[string, unknown]>([
    ['', num(5)],
    ['/header', { header: num(5) }],
    ['/header/totals', { header: { totals: num(5) } }],
    ['/details/0', { details: [num(5)] }],
  ])('at "%s" is one fault there', (path, input) => {
    const faults = faultsOf(input).filter(
      (fault) => fault.path.startsWith(path) && fault.code === 'body.wrong_type',
    );

    expect(faults).toEqual([
      {
        path,
        code: 'body.wrong_type',
        message: expect.stringMatching(/must be an object, found a number\.$/i),
      },
    ]);
  });
});

describe('what was found', () => {
  test.each<[unknown, string]>([
    [num(5), 'found a number'],
    [true, 'found true'],
    [[], 'found an array'],
    [{}, 'found an object'],
    ['SURPRISE', 'found "SURPRISE"'],
    ['x'.repeat(100), 'found a longer string'],
  ])('is told in a few words: %j', (value, words) => {
    expect(messageAt('/cfe_type', { cfe_type: value })).toContain(words);
  });

  test('is never told of a password', () => {
    const schema = z.strictObject({ password: z.string() });

    expect(JSON.stringify(faultsOf({ password: num(123456) }, schema))).not.toContain('123456');
  });
});

test('all faults are told at once, up to a thousand', () => {
  const input = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`field${i}`, 1]));
  const faults = faultsOf(input, z.strictObject({}));

  expect(faults).toHaveLength(MAX_FAULTS + 1);
  expect(faults.at(-1)).toEqual({
    path: '',
    code: 'body.more_faults',
    message: 'There are more than 1000 faults; the first 1000 are listed.',
  });
});

test('a request gets advice on a hundred unknown fields, wherever they stand', () => {
  const misspelt = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`item_nam${i}`, 1]));
  const faults = faultsOf({ details: Array.from({ length: 30 }, () => misspelt) });

  expect(faults.filter(({ message }) => message.includes('did you mean "item_name"?'))).toHaveLength(100);
});
