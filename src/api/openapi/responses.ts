/** Answers of refusals: one for each set of codes that share a status, named in `components.responses`. */
import type { RefusalCode } from '../../errors.ts';
import type { Route } from '../route.ts';
import { answerHeaders } from './answerHeaders.ts';
import type { Examples } from './examples.ts';
import { refusalsOf, WORDS } from './refusals.ts';

/** The schemas of the envelope and of one fault (docs/contract.md#answers). */
export const ERROR_SCHEMAS = {
  Error: {
    type: 'object',
    properties: {
      error: {
        type: 'object',
        properties: {
          code: { type: 'string', description: 'Stable; branch on it' },
          message: { type: 'string', description: 'For people; the wording may change' },
          details: {
            type: 'object',
            properties: { fields: { type: 'array', items: { $ref: '#/components/schemas/Fault' } } },
          },
        },
        required: ['code', 'message'],
      },
    },
    required: ['error'],
  },
  Fault: {
    type: 'object',
    properties: {
      path: {
        type: 'string',
        description:
          'JSON Pointer into the body; /path, /query and /headers point into those parts of the request',
        examples: ['/header/totals/pay_amount'],
      },
      code: { type: 'string', description: 'Stable', examples: ['totals.pay_amount'] },
      message: { type: 'string', description: 'What is wrong and what is expected instead' },
    },
    required: ['path', 'code', 'message'],
  },
} as const;

/** `InvalidInputOrAlreadyExists` */
const nameOf = (codes: readonly RefusalCode[]): string =>
  codes
    .map((code) => code.toLowerCase().replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase()))
    .join('Or');

/** A reference to the answer with one of `codes`. */
export function refusalReference(codes: readonly RefusalCode[]): { $ref: string } {
  return { $ref: `#/components/responses/${nameOf(codes)}` };
}

/** `components.responses` for all refusals of `routes`. */
export function refusalResponses(routes: readonly Route[], examples: Examples): Record<string, object> {
  const sets = routes.flatMap(refusalsOf);
  return Object.fromEntries(
    sets
      .map(([status, codes]): [string, object] => [nameOf(codes), response(status, codes, examples)])
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

function response(status: number, codes: readonly RefusalCode[], { errors }: Examples): object {
  const recorded = codes.flatMap((code) => (errors[code] ? [[code, { value: errors[code] }]] : []));
  return {
    description: codes.map((code) => `\`${code}\`: ${WORDS[code]}`).join(' '),
    headers: answerHeaders(status),
    content: {
      'application/json': {
        schema: {
          allOf: [
            { $ref: '#/components/schemas/Error' },
            {
              type: 'object',
              properties: {
                error: { type: 'object', properties: { code: { type: 'string', enum: codes } } },
              },
            },
          ],
        },
        ...(recorded.length > 0 ? { examples: Object.fromEntries(recorded) as object } : {}),
      },
    },
  };
}
