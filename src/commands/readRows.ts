import type * as z from 'zod';
import type { JsonReader } from '../domain/cfeExtra.ts';
import { check } from '../domain/faults.ts';
import { invalidInput } from '../errors.ts';

/** What reading an operator's file needs. */
export interface FileReaderDeps {
  /** Reads JSON losslessly. */
  readonly readJson: JsonReader;
}

/** The rows of an operator's file, which is JSON text. Refuses all its faults at once (INVALID_INPUT). */
export function readRows<T>({ readJson }: FileReaderDeps, schema: z.ZodType<T>, text: string): T {
  const json = readJson(text);
  const rows = json.ok ? check(schema, json.value) : json;
  if (rows.ok) return rows.value;
  throw invalidInput(
    rows.faults.map((fault) =>
      fault.path === '' ? { ...fault, message: `The file: ${fault.message}` } : fault,
    ),
  );
}
