/** The list of deliveries to webhooks. */
import * as z from 'zod';
import type { DeliveryListFilter } from '../db/webhooks/deliveryList.ts';
import { ENVIRONMENTS } from '../domain/receipts/cfeTypes.ts';
import { Moment, spanOfMoment } from '../domain/values/dates.ts';
import { EVENT_NAMES } from '../domain/webhooks/events.ts';
import { DELIVERY_STATUSES } from '../domain/webhooks/webhook.ts';
import { type FilterValues, type ListFilters, SoughtRut } from './list.ts';

export const DELIVERY_FILTERS = {
  status: { schema: z.enum(DELIVERY_STATUSES), only: 'deliveries with this status' },
  event: { schema: z.enum(EVENT_NAMES), only: 'deliveries of this event' },
  webhook: { schema: z.uuid(), only: 'deliveries to this webhook' },
  rut: { schema: SoughtRut, only: 'deliveries of events about this enterprise' },
  cfe: {
    schema: z.string().max(40),
    only: 'deliveries of events about this CFE; needs --rut',
    placeholder: 'cfe_id',
  },
  environment: { schema: z.enum(ENVIRONMENTS), only: 'deliveries of events in this environment' },
  since: {
    schema: Moment,
    only: 'deliveries created from this time on: a day in Montevideo, such as 2026-11-20, or 2026-11-20T15:00:00Z',
    placeholder: 'time',
  },
  until: {
    schema: Moment,
    only: 'deliveries created until this time; a day in Montevideo counts to its end',
    placeholder: 'time',
  },
} as const satisfies ListFilters;

/** Returns the search of these filters. */
export const deliverySearchOf = ({
  webhook,
  cfe,
  since,
  until,
  ...same
}: FilterValues<typeof DELIVERY_FILTERS>): DeliveryListFilter => ({
  ...same,
  webhookId: webhook,
  cfeId: cfe,
  from: since === undefined ? undefined : spanOfMoment(since).from,
  to: until === undefined ? undefined : spanOfMoment(until).before,
});
