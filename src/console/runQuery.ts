/** Filters of a bulk run, in the address of its preview and in the form that starts it. */
import * as z from 'zod';
import { STUCK_REASONS } from '../domain/authority/stuckReason.ts';
import { RUN_KINDS, type RunFilter } from '../domain/operations/run.ts';
import { CFE_STATUSES } from '../domain/receipts/cfeStatus.ts';
import { CFE_TYPE_NAMES, ENVIRONMENTS } from '../domain/receipts/cfeTypes.ts';
import { instantOfMontevideo, isDate, startOfDay } from '../domain/values/montevideo.ts';
import { EVENT_NAMES } from '../domain/webhooks/events.ts';
import { SoughtRut } from '../lists/list.ts';

/** A date or a local time in Montevideo, or a timestamp with its zone. */
const Since = z
  .string()
  .max(40)
  .refine((text) => parseInstant(text) !== undefined);

/** Filters by their names in the query. */
export const RUN_QUERY = {
  stuck_reason: z.enum(STUCK_REASONS).optional(),
  rut: SoughtRut.optional(),
  environment: z.enum(ENVIRONMENTS).optional(),
  type: z.enum(CFE_TYPE_NAMES).optional(),
  status: z.enum(CFE_STATUSES).optional(),
  webhook: z.uuid().optional(),
  event: z.enum(EVENT_NAMES).optional(),
  since: Since.optional(),
} as const;
export const RunQuery = z.object({ kind: z.enum(RUN_KINDS), ...RUN_QUERY });

const FilterQuery = z.object(RUN_QUERY);

/** Returns the filter of a query. */
export function filterOf(query: z.output<typeof FilterQuery>): RunFilter {
  const { stuck_reason: stuckReason, rut, environment, type, status, webhook, event, since } = query;
  const sinceText = since === undefined ? undefined : parseInstant(since)?.toISOString();
  const all = { stuckReason, rut, environment, type, status, webhook, event, since: sinceText };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

function parseInstant(text: string): Date | undefined {
  if (isDate(text)) return startOfDay(text);
  if (z.iso.datetime({ offset: true }).safeParse(text).success) return new Date(text);
  return instantOfMontevideo(text);
}
