import * as z from 'zod';
import type { FieldTable } from '../domain/requests/fields.ts';
import { describeField } from '../domain/requests/fieldWords.ts';
import { DateText } from './formats.ts';

type Shown<K extends FieldTable[string]['kind']> = K extends 'code'
  ? z.ZodInt
  : K extends 'flag'
    ? z.ZodBoolean
    : z.ZodString;

const SCHEMAS: Readonly<Record<FieldTable[string]['kind'], () => z.ZodType>> = {
  text: () => z.string(),
  email: () => z.string(),
  code: () => z.int().min(0),
  day: () => DateText,
  flag: () => z.boolean(),
  choice: () => z.string(),
};

/** Schemas of fields in answers. */
export type FieldsShape<T extends FieldTable> = {
  -readonly [K in keyof T]: T[K]['optional'] extends true
    ? z.ZodNullable<Shown<T[K]['kind']>>
    : Shown<T[K]['kind']>;
};

/** Returns the schemas of fields in an answer. */
export function fieldsShape<T extends FieldTable>(fields: T): FieldsShape<T> {
  const schemas = Object.entries(fields).map(([name, { kind, optional, words, schema: choice }]) => {
    const schema = kind === 'choice' ? choice : SCHEMAS[kind]();
    return [name, (optional ? schema.nullable() : schema).meta(describeField(words))];
  });
  return Object.fromEntries(schemas) as FieldsShape<T>;
}
