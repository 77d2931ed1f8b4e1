/** Renders and reads forms whose fields are in a table (domain/requests/fields.ts). */
import type * as z from 'zod';
import type { FieldTable, Stored } from '../domain/requests/fields.ts';
import { parseTypedNumber } from '../domain/values/decimal.ts';
import type { Html } from '../page/html.ts';
import { field } from './parts.ts';

type Labels<T extends FieldTable> = { readonly [C in keyof Stored<T>]: string };

/** Returns the inputs' values of a stored row; empty for missing ones. */
export const inputsOf = <T extends FieldTable>(
  fields: T,
  row: { readonly [C in keyof Stored<T>]?: Stored<T>[C] | undefined } | null,
): { readonly [K in keyof T]: string } =>
  Object.fromEntries(
    Object.entries(fields).map(([name, { column }]) => [
      name,
      String(row?.[column as keyof Stored<T>] ?? ''),
    ]),
  ) as { [K in keyof T]: string };

/** Renders an input for each field, with its label in the reader's language. */
export function renderFields<T extends FieldTable>(
  labels: Labels<T>,
  fields: T,
  values: { readonly [K in keyof T]: string },
): Html[] {
  const attributes = {
    text: {},
    code: { inputmode: 'numeric', maxlength: 4 },
    email: { type: 'email' },
    day: { type: 'date' },
  } as const;
  return Object.entries(fields).map(([name, { column, kind, optional }]) =>
    field(labels[column as keyof Stored<T>], {
      name,
      value: values[name],
      ...attributes[kind],
      ...(optional ? { required: false } : {}),
    }),
  );
}

/** Returns the shape of the form's body, with `typed` as the schema of each field. */
export const sentShape = <T extends FieldTable, S extends z.ZodType>(
  fields: T,
  typed: S,
): { [K in keyof T]: S } =>
  Object.fromEntries(Object.keys(fields).map((name) => [name, typed])) as { [K in keyof T]: S };

/** Returns the typed values as a body of the API; null for an optional field that was emptied. */
export const bodyOfSent = (
  fields: FieldTable,
  sent: Readonly<Record<string, unknown>>,
): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, row]): [string, unknown][] => {
      const typed = sent[name];
      if (typeof typed !== 'string') return [];
      const value = typed.trim();
      if (row.kind === 'code') return [[name, parseTypedNumber(value)]];
      return [[name, value === '' && row.optional ? null : value]];
    }),
  );

/** Returns the labels by JSON path, as faults name fields. */
export const labelsByPath = <T extends FieldTable>(labels: Labels<T>, fields: T): Record<string, string> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, { column }]) => [`/${name}`, labels[column as keyof Stored<T>]]),
  );
