/** Error answers: one in `components.responses` for each set of codes that share a status. */
import { enumWords } from '../../domain/requests/enums.ts';
import { MAX_FAULTS } from '../../domain/requests/faults.ts';
import { REFUSAL_CODES, type RefusalCode } from '../../errors.ts';
import { STATUS_OF } from '../errorAnswer.ts';
import type { Route } from '../route.ts';
import { answerHeaders } from './answerHeaders.ts';
import { ERROR_SAMPLES } from './errorSamples.ts';
import type { Examples } from './examples.ts';
import { REFUSAL_MEANINGS, refusalsOf } from './refusals.ts';

/** The guides' page about codes (src/handbook); relative to the document. */
const ERROR_PAGE = 'docs/refused';
const schemaAt = (name: string) => ({ $ref: `#/components/schemas/${name}` });

const MESSAGE = {
  type: 'string',
  description: 'What is wrong, for people; the wording may change.',
  examples: ['rut: 219999830018 ends in 8, but its check digit is 9.'],
};
const DETAILS = {
  ...schemaAt('ErrorDetails'),
  description: 'Every fault at once; absent when there are none to list.',
};

const envelope = (code: object, description: string) => ({
  type: 'object',
  description,
  properties: {
    error: {
      type: 'object',
      description: 'The error.',
      properties: { code, message: MESSAGE, details: DETAILS },
      required: ['code', 'message'],
    },
  },
  required: ['error'],
});

const DETAIL_SCHEMAS = {
  ErrorDetails: {
    type: 'object',
    description: 'The details of the error.',
    properties: {
      fields: {
        type: 'array',
        description:
          'Every fault of the request at once; beyond 1,000 only the first, and an entry that says so.',
        maxItems: MAX_FAULTS + 1,
        items: schemaAt('Fault'),
      },
      enterprise_rut: {
        type: 'string',
        description:
          'For IDEMPOTENCY_KEY_REUSED when the key was used to issue a CFE: the RUT of its enterprise.',
        examples: ['219999830019'],
      },
      cfe_id: {
        type: 'string',
        description:
          'For IDEMPOTENCY_KEY_REUSED when the key was used to issue a CFE: its id. Read it: it may be the sale that you mean.',
        examples: ['101-7'],
      },
    },
  },
  Fault: {
    type: 'object',
    description: 'One fault of the request.',
    properties: {
      path: {
        type: 'string',
        description:
          'The faulty field: a JSON Pointer into the body; /path, /query and /headers point into those parts of the request.',
        examples: ['/header/totals/pay_amount'],
      },
      code: {
        type: 'string',
        description: 'The broken rule; stable. New rules may be added: for an unknown code, use `message`.',
        examples: ['totals.pay_amount'],
        externalDocs: { url: `${ERROR_PAGE}#rules`, description: 'Every rule and its code' },
      },
      message: {
        type: 'string',
        description:
          'What is wrong and what is expected instead, for people; in Spanish by `Accept-Language`.',
        examples: [
          'header.totals.pay_amount: must be 1219.50 (1220.00 less 0.50 not billed), found 1220.00.',
        ],
      },
      docs: {
        type: 'string',
        format: 'uri',
        description: 'The page that explains the rule to people.',
        examples: ['https://cfe.example.com/v1/docs/refused#totals.pay_amount'],
      },
    },
    required: ['path', 'code', 'message', 'docs'],
  },
};

/** Returns the schemas of errors: general, per code, and of their details (docs/contract.md#answers). */
export function errorSchemas(): Record<string, object> {
  const ofEachCode = REFUSAL_CODES.map((code) => [
    errorName(code),
    {
      ...envelope(
        { type: 'string', const: code, description: 'Stable; branch on it.' },
        `HTTP ${STATUS_OF[code]}. ${REFUSAL_MEANINGS[code]}`,
      ),
      externalDocs: { url: `${ERROR_PAGE}#${code}`, description: `${code}: meaning and remedy` },
    },
  ]);
  return {
    ErrorCode: {
      type: 'string',
      enum: REFUSAL_CODES,
      ...enumWords(
        'Code of an error; the set is closed, and stable: branch on it.',
        REFUSAL_CODES,
        REFUSAL_MEANINGS,
      ),
      externalDocs: { url: ERROR_PAGE, description: 'Every code: meaning and remedy' },
    },
    Error: envelope(schemaAt('ErrorCode'), 'The envelope of every error.'),
    ...DETAIL_SCHEMAS,
    ...(Object.fromEntries(ofEachCode) as Record<string, object>),
  };
}

const pascal = (code: string): string =>
  code.toLowerCase().replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
const errorName = (code: RefusalCode): string => `${pascal(code).replace(/Error$/, '')}Error`;

/** `InvalidInputOrAlreadyExists` */
const nameOf = (codes: readonly RefusalCode[]): string => codes.map(pascal).join('Or');

/** Returns a reference to the answer with one of `codes`. */
export function refusalReference(codes: readonly RefusalCode[]): { $ref: string } {
  return { $ref: `#/components/responses/${nameOf(codes)}` };
}

/** Returns `components.responses` for all refusals of `routes`. */
export function refusalResponses(routes: readonly Route[], examples: Examples): Record<string, object> {
  const sets = routes.flatMap(refusalsOf);
  return Object.fromEntries(
    sets
      .map(([status, codes]): [string, object] => [nameOf(codes), response(status, codes, examples)])
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

function response(
  status: number,
  codes: readonly RefusalCode[],
  { errors: recordedErrors }: Examples,
): object {
  const errors = { ...ERROR_SAMPLES, ...recordedErrors };
  const recorded = codes.flatMap((code) => (errors[code] ? [[code, { value: errors[code] }]] : []));
  const schemas = codes.map((code) => schemaAt(errorName(code)));
  return {
    description: codes.map((code) => `\`${code}\`: ${REFUSAL_MEANINGS[code]}`).join(' '),
    headers: answerHeaders(status),
    content: {
      'application/json': {
        schema: codes.length === 1 ? schemas[0] : { anyOf: schemas },
        ...(recorded.length > 0 ? { examples: Object.fromEntries(recorded) as object } : {}),
      },
    },
  };
}
