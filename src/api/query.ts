import * as z from 'zod';
import { type Checked, checkInput, faultAt } from '../domain/requests/faults.ts';

const NONE = z.strictObject({});

/**
 * Returns the first value of a query parameter. Koa's own parser takes most of a second for thousands of
 * equal names.
 */
export const queryValue = (search: string, name: string): string | undefined =>
  new URLSearchParams(search).get(name) ?? undefined;

/**
 * Parses the query parameters with `schema` (each a string; null allows none). Unknown and repeated
 * parameters are faults too; paths are `/query/<name>`.
 */
export function readQuery(search: string, schema: z.ZodType | null): Checked<unknown> {
  const parameters = [...new URLSearchParams(search)];
  const names = new Set<string>();
  const twice = new Set<string>();
  for (const [name] of parameters) (names.has(name) ? twice : names).add(name);
  const checked = checkInput<unknown>(schema ?? NONE, Object.fromEntries(parameters), { at: '/query' });
  const faults = [
    ...[...twice].map((name) => faultAt([name], 'body.duplicate_key', 'must not be given twice.', '/query')),
    ...(checked.ok ? [] : checked.faults),
  ];
  if (faults.length > 0) return { ok: false, faults };
  return checked.ok && schema === null ? { ok: true, value: null } : checked;
}
