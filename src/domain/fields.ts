/**
 * Fields that are stored as a caller writes them. One row a field; the bodies of requests, the objects of answers, the
 * columns, the forms of the console and the options of the command line are made from the rows.
 */
import type * as z from 'zod';
import { describeField, type FieldWords } from './fieldWords.ts';

/** One field. */
export interface Field {
  /** Its property of the entity. */
  readonly column: string;
  /** What it may hold. */
  readonly schema: z.ZodType<string | number>;
  readonly kind: 'text' | 'code' | 'email' | 'day';
  readonly words: FieldWords;
  /** Whether it may be missing: null removes it. */
  readonly optional: boolean;
}
/** Fields by the names that the API gives them, in its order. */
export type FieldTable = Readonly<Record<string, Field>>;

type Value<F extends Field> = z.output<F['schema']> | (F['optional'] extends true ? null : never);
/** The fields as the API names them. */
export type Named<T extends FieldTable> = { -readonly [K in keyof T]: Value<T[K]> };
/** The fields as they are stored. */
export type Stored<T extends FieldTable> = { -readonly [K in keyof T as T[K]['column']]: Value<T[K]> };

type Row = Omit<Field, 'optional' | 'kind'> & { readonly kind?: Field['kind'] };
type Made<R extends Row, O extends boolean> = Omit<R, 'kind'> & {
  readonly kind: R extends { kind: infer K extends Field['kind'] } ? K : 'text';
  readonly optional: O;
};

/** No other property than those of a row. */
type Exactly<R extends Row> = R & { readonly [K in Exclude<keyof R, keyof Row>]: never };

/** A field that is always there. */
export const requiredField = <const R extends Row>(row: Exactly<R>): Made<R, false> =>
  ({ kind: 'text', ...row, optional: false }) as unknown as Made<R, false>;
/** A field that may be missing. */
export const optionalField = <const R extends Row>(row: Exactly<R>): Made<R, true> =>
  ({ kind: 'text', ...row, optional: true }) as unknown as Made<R, true>;

type Shape<T extends FieldTable> = {
  -readonly [K in keyof T]: T[K]['optional'] extends true
    ? z.ZodOptional<z.ZodNullable<T[K]['schema']>>
    : T[K]['schema'];
};

const described = ({ schema, optional, words: said }: Field): z.ZodType =>
  (optional ? schema.nullable() : schema).meta(describeField(said));

/** The fields in the body that makes a thing: those that may be missing may be left out, or null. */
export const creationShape = <T extends FieldTable>(fields: T): Shape<T> =>
  mapped(fields, (field) => (field.optional ? described(field).optional() : described(field))) as Shape<T>;

/** The fields in the body that changes a thing: what is left out stays, null removes what may be missing. */
export const updateShape = <T extends FieldTable>(
  fields: T,
): { [K in keyof T]: z.ZodOptional<Shape<T>[K]> } =>
  mapped(fields, (field) => described(field).optional()) as { [K in keyof T]: z.ZodOptional<Shape<T>[K]> };

/** What a body says of the fields, as it is stored; those that it leaves out are null. */
export const toStoredFields = <T extends FieldTable>(fields: T, body: Partial<Named<T>>): Stored<T> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, { column }]) => [column, body[name] ?? null]),
  ) as Stored<T>;

/** The same, without those that the body leaves out. */
export const toStoredChanges = <T extends FieldTable>(
  fields: T,
  body: { readonly [K in keyof T]?: Named<T>[K] | undefined },
): Partial<Stored<T>> =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, { column }]) =>
      body[name] === undefined ? [] : [[column, body[name]]],
    ),
  ) as Partial<Stored<T>>;

/** What is stored of the fields, by the API's names. */
export const toApiFields = <T extends FieldTable>(
  fields: T,
  row: { readonly [C in keyof Stored<T>]?: Stored<T>[C] | undefined },
): Named<T> => mapped(fields, ({ column }) => row[column as keyof Stored<T>] ?? null) as Named<T>;

type Removable<T extends FieldTable> = {
  [K in keyof T as T[K]['optional'] extends true ? K : never]: T[K]['column'];
};
/** The columns of those that may be missing, by the API's names. */
export const removableColumns = <T extends FieldTable>(fields: T): Removable<T> =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, { column, optional }]) => (optional ? [[name, column]] : [])),
  ) as unknown as Removable<T>;

function mapped<R>(fields: FieldTable, of: (field: Field) => R): Record<string, R> {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, of(field)]));
}
