/** The filters of a bulk run, as its preview and its form get them. */

import * as z from 'zod';
import { STUCK_REASONS } from '../domain/authority/stuckReason.ts';
import { RUN_KINDS, type RunFilter } from '../domain/operations/run.ts';
import { omitUndefined } from '../domain/receipts/cfeContent.ts';
import { CFE_STATUSES } from '../domain/receipts/cfeStatus.ts';
import { CFE_TYPE_NAMES, ENVIRONMENTS } from '../domain/receipts/cfeTypes.ts';
import { instantOfMontevideo, isDate, startOfDay } from '../domain/values/montevideo.ts';
import { EVENT_NAMES } from '../domain/webhooks/events.ts';
import { TypedRut } from '../lists/list.ts';

/** A date, a local time in Montevideo or a timestamp with its zone. */
const Since = z
  .string()
  .max(40)
  .refine((text) => parseInstant(text) !== undefined);

export const RUN_QUERY = {
  stuck_reason: z.enum(STUCK_REASONS).optional(),
  rut: TypedRut.optional(),
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
  return omitUndefined({ stuckReason, rut, environment, type, status, webhook, event, since: sinceText });
}

function parseInstant(text: string): Date | undefined {
  if (isDate(text)) return startOfDay(text);
  if (z.iso.datetime({ offset: true }).safeParse(text).success) return new Date(text);
  return instantOfMontevideo(text);
}
