import { describe, expect, test } from '@jest/globals';
import { errorAnswer } from '../../../src/api/errorAnswer.ts';
import { invalidInput, REFUSAL_CODES, Refusal, type RefusalCode } from '../../../src/errors.ts';

const READER = { requestId: 'request-1', language: 'en', publicUrl: 'https://cfe.example' } as const;
const ENGLISH = { 'Content-Language': 'en' };
const inSpanish = (error: unknown) => errorAnswer(error, { ...READER, language: 'es' });

describe('errorAnswer', () => {
  test.each<[RefusalCode, number]>([
    ['INVALID_INPUT', 400],
    ['ALREADY_EXISTS', 400],
    ['INVALID_API_KEY', 401],
    ['UNAUTHORIZED', 401],
    ['FORBIDDEN', 403],
    ['NOT_FOUND', 404],
    ['METHOD_NOT_ALLOWED', 405],
    ['REQUEST_TIMEOUT', 408],
    ['NOT_SENT_YET', 409],
    ['IDEMPOTENCY_IN_PROGRESS', 409],
    ['PAYLOAD_TOO_LARGE', 413],
    ['UNSUPPORTED_MEDIA_TYPE', 415],
    ['HEADERS_TOO_LARGE', 431],
    ['IDEMPOTENCY_KEY_REUSED', 422],
    ['RATE_LIMITED', 429],
    ['INTERNAL_ERROR', 500],
    ['UNAVAILABLE', 503],
  ])('%s is %i', (code, status) => {
    expect(errorAnswer(new Refusal(code, 'words'), READER)).toMatchObject({
      status,
      body: { error: { code, message: 'words' } },
    });
  });

  test('the table above is whole', () => {
    expect(REFUSAL_CODES).toHaveLength(17);
  });

  test('faults stand in details.fields, and no details where there are none', () => {
    const fault = { path: '/a', code: 'x.y', message: 'a: is wrong.' };

    expect(errorAnswer(invalidInput([fault]), READER).body).toEqual({
      error: {
        code: 'INVALID_INPUT',
        message: 'a: is wrong.',
        details: { fields: [{ ...fault, docs: 'https://cfe.example/v1/docs/refused#x.y' }] },
      },
    });
    expect(errorAnswer(new Refusal('NOT_FOUND', 'no'), READER).body).toEqual({
      error: { code: 'NOT_FOUND', message: 'no' },
    });
  });

  test('a 401 says how to get in, a 503 when to come back', () => {
    expect(errorAnswer(new Refusal('UNAUTHORIZED', 'no'), READER).headers).toEqual({
      ...ENGLISH,
      'WWW-Authenticate': 'Bearer realm="cfe"',
    });
    expect(errorAnswer(new Refusal('INVALID_API_KEY', 'no'), READER).headers).toEqual({
      ...ENGLISH,
      'WWW-Authenticate': 'ApiKey realm="cfe"',
    });
    expect(errorAnswer(new Refusal('UNAVAILABLE', 'no', { retryAfterSeconds: 1.2 }), READER).headers).toEqual(
      {
        ...ENGLISH,
        'Retry-After': '2',
      },
    );
  });

  test.each<[string, unknown]>([
    ['an error', new Error('select * from secrets')],
    ['a text', 'select * from secrets'],
    ['nothing', undefined],
    [
      'an error of http-errors',
      Object.assign(new Error('select * from secrets'), { status: 418, expose: true }),
    ],
  ])('%s of ours leaves as INTERNAL_ERROR that names the request and nothing else', (_, thrown) => {
    const answer = errorAnswer(thrown, READER);

    expect(answer.status).toBe(500);
    expect(answer.body).toEqual({
      error: {
        code: 'INTERNAL_ERROR',
        message: 'Something went wrong on our side. Quote request request-1 when you report it.',
      },
    });
  });

  test.each<[string, unknown]>([
    ['refused', Object.assign(new Error('x'), { code: 'ECONNREFUSED' })],
    ['shutting down', new Error('wrapped', { cause: Object.assign(new Error('x'), { code: '57P01' }) })],
    ['of two addresses', new AggregateError([Object.assign(new Error('x'), { code: 'ECONNREFUSED' })])],
    ['broken off', new Error('outer', { cause: new Error('Connection terminated unexpectedly') })],
    ['none free', new Error('timeout exceeded when trying to connect')],
    ['out of disk', Object.assign(new Error('x'), { code: '53100' })],
    ['out of memory', Object.assign(new Error('x'), { code: '53200' })],
    ['failing at its files', Object.assign(new Error('x'), { code: '58030' })],
    ['read only, as a standby is', Object.assign(new Error('x'), { code: '25006' })],
  ])('a connection to the database %s is UNAVAILABLE with Retry-After', (_, thrown) => {
    const { status, headers, body } = errorAnswer(thrown, READER);

    expect([status, headers['Retry-After'], body.error.code]).toEqual([503, '5', 'UNAVAILABLE']);
  });

  test('a broken rule of the database is no outage', () => {
    expect(errorAnswer(Object.assign(new Error('x'), { code: '23505' }), READER).status).toBe(500);
  });

  test('in Spanish: the message and those of the faults, with their values; codes, paths and fields stay', () => {
    const faults = [
      {
        path: '/header/totals/pay_amount',
        code: 'totals.pay_amount',
        message: 'header.totals.pay_amount: must be 1219.50 (1220.00 and -0.50 not billed), found 1220.00.',
      },
      { path: '/a: b', code: 'body.unknown_field', message: 'a: b: unknown field; did you mean "none"?' },
    ];
    const { headers, body } = inSpanish(invalidInput(faults));

    expect(headers['Content-Language']).toBe('es');
    expect(body.error).toMatchObject({
      code: 'INVALID_INPUT',
      message:
        'header.totals.pay_amount: debe ser 1219.50 (1220.00 y -0.50 no facturables); se recibió 1220.00. (2 errores; vea details.fields.)',
      details: {
        fields: [
          { path: '/header/totals/pay_amount', code: 'totals.pay_amount' },
          {
            path: '/a: b',
            code: 'body.unknown_field',
            message: 'a: b: campo desconocido; ¿quiso decir "none"?',
            docs: 'https://cfe.example/v1/docs/refused#body.unknown_field',
          },
        ],
      },
    });
  });

  test('in Spanish: a message without a row says what its rule checks, or what its code says', () => {
    const fault = { path: '/a', code: 'line.count', message: 'a: some new words.' };

    expect(inSpanish(invalidInput([fault])).body.error.message).toBe('a: La cantidad es mayor que cero.');
    expect(inSpanish(new Refusal('NOT_FOUND', 'Some new words.')).body.error.message).toBe('No existe.');
    expect(inSpanish(new Error('a bug')).body.error.message).toBe(
      'Algo falló de nuestro lado. Al avisarnos, mencione la solicitud request-1.',
    );
  });
});
