import { z } from 'zod';
import { type Fault, invalidInput, Refusal } from '../../../src/errors.ts';
import { dayInMontevideo, momentOf } from '../clock.ts';

/** The fields that calls of the portal share. */
export const environment = z.enum(['production', 'sandbox']).default('production');
export const rut = z.string().regex(/^\d{12}$/, 'must be 12 digits');
export const cfeTypeCode = z.string().regex(/^\d{3}$/, 'must be a type code of 3 digits, as a string');
export const serie = z
  .string()
  .regex(/^([A-Z]{1,2}|[1-9][A-Z])$/, 'must be one or two capital letters, or a digit and a letter');
export const fiscalNumber = z.int().min(1).max(9_999_999);
export const day = z
  .string()
  .refine((text) => text.length === 10 && isDay(text), 'must be an existing day, YYYY-MM-DD');
/** A day (its beginning in Montevideo) or a moment. */
export const dayOrMoment = z
  .string()
  .refine((text) => momentOf(text) !== null, 'must be YYYY-MM-DD or an ISO 8601 timestamp')
  .transform((text) => momentOf(text) ?? new Date(0));

const isDay = (text: string): boolean => {
  const moment = momentOf(text);
  return moment !== null && dayInMontevideo(moment) === text;
};

/** The input as the schema reads it. Throws INVALID_INPUT that names each faulty field, its path after `prefix`. */
export function read<T>(schema: z.ZodType<T>, input: unknown, prefix = ''): T {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.flatMap((issue): Fault[] => {
    const at = (key?: string) =>
      `${prefix}${[...issue.path, ...(key === undefined ? [] : [key])].map((part) => `/${String(part)}`).join('')}`;
    if (issue.code === 'unrecognized_keys')
      return issue.keys.map((key) => ({ path: at(key), code: issue.code, message: `${key}: unknown field` }));
    const name = issue.path.map(String).join('.') || 'body';
    return [{ path: at(), code: issue.code, message: `${name}: ${issue.message}` }];
  });
  throw invalidInput(faults);
}

/** The JSON of a body; throws INVALID_INPUT. */
export function readJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)) as unknown;
  } catch (cause) {
    throw new Refusal('INVALID_INPUT', 'the body must be JSON', {
      faults: [{ path: '', code: 'json', message: 'the body must be JSON' }],
      cause,
    });
  }
}
