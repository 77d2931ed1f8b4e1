import * as z from 'zod';
import { type Checked, check, faultAt } from '../domain/faults.ts';

const NONE = z.strictObject({});

/**
 * The query parameters as `schema` reads them (each a text; null: there may be none). A parameter that is unknown or
 * given twice is a fault, as is whatever the schema finds; paths are `/query/<name>`.
 */
export function readQuery(search: string, schema: z.ZodType | null): Checked<unknown> {
  const parameters = [...new URLSearchParams(search)];
  const names = parameters.map(([name]) => name);
  const twice = new Set(names.filter((name, i) => names.indexOf(name) !== i));
  const checked = check<unknown>(schema ?? NONE, Object.fromEntries(parameters), { at: '/query' });
  const faults = [
    ...[...twice].map((name) => faultAt([name], 'body.duplicate_key', 'is given twice.', '/query')),
    ...(checked.ok ? [] : checked.faults),
  ];
  if (faults.length > 0) return { ok: false, faults };
  return checked.ok && schema === null ? { ok: true, value: null } : checked;
}
