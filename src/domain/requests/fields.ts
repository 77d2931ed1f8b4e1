/**
 * Fields that are stored as sent, one row each: the source of request bodies, response objects, columns, console forms and
 * command-line options.
 */
import type * as z from 'zod';
import { describeField, type FieldWords } from './fieldWords.ts';

/** One field. */
export interface ApiField {
  /** The property of the entity. */
  readonly column: string;
  readonly schema: z.ZodType<string | number | boolean>;
  readonly kind: 'text' | 'code' | 'email' | 'day' | 'flag' | 'choice';
  readonly words: FieldWords;
  /** Whether it may be missing: null removes it. */
  readonly optional: boolean;
}
/** Fields by their names in the API, in the API's order. */
export type FieldTable = Readonly<Record<string, ApiField>>;

type Value<F extends ApiField> = z.output<F['schema']> | (F['optional'] extends true ? null : never);
/** The field values by API name. */
export type Named<T extends FieldTable> = { -readonly [K in keyof T]: Value<T[K]> };
/** The field values by column. */
export type Stored<T extends FieldTable> = { -readonly [K in keyof T as T[K]['column']]: Value<T[K]> };

type Row = Omit<ApiField, 'optional' | 'kind'> & { readonly kind?: ApiField['kind'] };
type Declared<R extends Row, O extends boolean> = Omit<R, 'kind'> & {
  readonly kind: R extends { kind: infer K extends ApiField['kind'] } ? K : 'text';
  readonly optional: O;
};

/** Forbids properties that a row does not have. */
type Exactly<R extends Row> = R & { readonly [K in Exclude<keyof R, keyof Row>]: never };

/** Declares a field that always has a value. */
export const requiredField = <const R extends Row>(row: Exactly<R>): Declared<R, false> =>
  ({ kind: 'text', ...row, optional: false }) as unknown as Declared<R, false>;
/** Declares a field that may be missing. */
export const optionalField = <const R extends Row>(row: Exactly<R>): Declared<R, true> =>
  ({ kind: 'text', ...row, optional: true }) as unknown as Declared<R, true>;

type Shape<T extends FieldTable> = {
  -readonly [K in keyof T]: T[K]['optional'] extends true
    ? z.ZodOptional<z.ZodNullable<T[K]['schema']>>
    : T[K]['schema'];
};

const describedSchema = ({ schema, optional, words }: ApiField): z.ZodType =>
  (optional ? schema.nullable() : schema).meta(describeField(words));

/** Returns the fields for a body that creates an object; optional ones may be omitted or null. */
export const creationShape = <T extends FieldTable>(fields: T): Shape<T> =>
  mapFields(fields, (field) =>
    field.optional ? describedSchema(field).optional() : describedSchema(field),
  ) as Shape<T>;

/** Returns the fields for a body that updates an object; omitted fields stay, null removes an optional one. */
export const updateShape = <T extends FieldTable>(
  fields: T,
): { [K in keyof T]: z.ZodOptional<Shape<T>[K]> } =>
  mapFields(fields, (field) => describedSchema(field).optional()) as {
    [K in keyof T]: z.ZodOptional<Shape<T>[K]>;
  };

/** Converts the fields of a body into columns; omitted fields become null. */
export const toStoredFields = <T extends FieldTable>(fields: T, body: Partial<Named<T>>): Stored<T> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, { column }]) => [column, body[name] ?? null]),
  ) as Stored<T>;

/** Converts the fields of a body into columns, without omitted fields. */
export const toStoredChanges = <T extends FieldTable>(
  fields: T,
  body: { readonly [K in keyof T]?: Named<T>[K] | undefined },
): Partial<Stored<T>> =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, { column }]) =>
      body[name] === undefined ? [] : [[column, body[name]]],
    ),
  ) as Partial<Stored<T>>;

/** Returns the stored fields by API name. */
export const toApiFields = <T extends FieldTable>(
  fields: T,
  row: { readonly [C in keyof Stored<T>]?: Stored<T>[C] | undefined },
): Named<T> => mapFields(fields, ({ column }) => row[column as keyof Stored<T>] ?? null) as Named<T>;

type Removable<T extends FieldTable> = {
  [K in keyof T as T[K]['optional'] extends true ? K : never]: T[K]['column'];
};
/** Returns the columns of optional fields by API name. */
export const removableColumns = <T extends FieldTable>(fields: T): Removable<T> =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, { column, optional }]) => (optional ? [[name, column]] : [])),
  ) as unknown as Removable<T>;

function mapFields<R>(fields: FieldTable, convert: (field: ApiField) => R): Record<string, R> {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, convert(field)]));
}
