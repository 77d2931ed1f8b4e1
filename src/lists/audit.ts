/** The list of the audit. */
import * as z from 'zod';
import type { AuditSearch } from '../db/operations/auditPage.ts';
import { AUDIT_ACTIONS } from '../domain/operations/audit.ts';
import { Moment, spanOfMoment } from '../domain/values/dates.ts';
import { type FilterValues, type ListFilters, SoughtRut } from './list.ts';

export const AUDIT_FILTERS = {
  person: {
    schema: z.string().max(254),
    only: 'what this person did, here or in the console',
    placeholder: 'name',
  },
  rut: { schema: SoughtRut, only: 'entries about this enterprise' },
  subject: {
    schema: z.string().max(200),
    only: 'entries about this object, such as an API key or a delivery',
    placeholder: 'id',
  },
  action: { schema: z.enum(AUDIT_ACTIONS), only: 'these acts' },
  since: {
    schema: Moment,
    only: 'entries from this time on: a day in Montevideo, such as 2026-11-20, or 2026-11-20T15:00:00Z',
    placeholder: 'time',
  },
  until: {
    schema: Moment,
    only: 'entries until this time; a day in Montevideo counts to its end',
    placeholder: 'time',
  },
} as const satisfies ListFilters;

/** Returns the search of these filters. */
export const auditSearchOf = ({
  since,
  until,
  ...same
}: FilterValues<typeof AUDIT_FILTERS>): AuditSearch => ({
  ...same,
  from: since === undefined ? undefined : spanOfMoment(since).from,
  before: until === undefined ? undefined : spanOfMoment(until).before,
});
