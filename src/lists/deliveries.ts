import * as z from 'zod';
import { newestFirst } from '../db/page.ts';
import {
  type DeliveryListFilter,
  type ListedDelivery,
  listDeliveryPage,
} from '../db/webhooks/deliveryList.ts';
import { type ListedWebhook, listWebhookPage, WEBHOOK_ORDER } from '../db/webhooks/webhooks.ts';
import { ENVIRONMENTS } from '../domain/receipts/cfeTypes.ts';
import { EVENT_NAMES } from '../domain/webhooks/events.ts';
import { DELIVERY_STATUSES } from '../domain/webhooks/webhook.ts';
import { type FilterValues, listOf, sinceFilters, spanBetween, TypedRut, type VisibleTo } from './list.ts';

const FILTERS = {
  status: { schema: z.enum(DELIVERY_STATUSES), only: 'deliveries with this status' },
  event: { schema: z.enum(EVENT_NAMES), only: 'deliveries of this event' },
  webhook: { schema: z.uuid(), only: 'deliveries to this webhook' },
  rut: { schema: TypedRut, only: 'deliveries of events about this enterprise' },
  cfe: {
    schema: z.string().max(40),
    only: 'deliveries of events about this CFE; needs --rut',
    placeholder: 'cfe_id',
  },
  environment: { schema: z.enum(ENVIRONMENTS), only: 'deliveries of events in this environment' },
  ...sinceFilters('deliveries created'),
} as const;

/** Deliveries of events, newest first. */
export const DELIVERIES = listOf<ListedDelivery, FilterValues<typeof FILTERS> & VisibleTo>()({
  name: 'deliveries',
  filters: FILTERS,
  columns: {
    created_at: 'createdAt',
    delivery_id: 'id',
    event: 'event',
    status: 'status',
    webhook_id: 'webhookId',
    url: 'url',
    account: 'accountName',
    rut: 'rut',
    cfe_id: 'cfeId',
    environment: 'environment',
    attempts: 'attempts',
    last_answer: 'lastResult',
    next_attempt_at: 'nextAttemptAt',
  },
  key: newestFirst('uuid'),
  read(em, { accounts, webhook: webhookId, cfe: cfeId, since, until, ...same }, page) {
    const filter: DeliveryListFilter = { ...same, webhookId, cfeId, ...spanBetween(since, until) };
    return listDeliveryPage(em, accounts, filter, page);
  },
});

/** Webhooks that were not removed, newest first, with the results of their deliveries. */
export const WEBHOOKS = listOf<ListedWebhook, VisibleTo & { readonly now: Date }>()({
  name: 'webhooks',
  filters: {},
  columns: {
    url: ({ webhook }) => webhook.url,
    account: 'accountName',
    events: ({ webhook }) => webhook.events,
    enabled: ({ webhook }) => webhook.enabled,
    disabled_reason: ({ webhook }) => webhook.disabledReason,
    day_failed: ({ health }) => health.day.failed,
    week_failed: ({ health }) => health.week.failed,
    waiting_for_retry: ({ health }) => health.retried,
    oldest_failed: ({ health }) => health.oldestFailed,
    webhook_id: ({ webhook }) => webhook.id,
    account_id: ({ webhook }) => webhook.accountId,
    created_at: ({ webhook }) => webhook.createdAt,
  },
  key: { ...WEBHOOK_ORDER, of: ({ webhook }) => WEBHOOK_ORDER.of(webhook) },
  read: (em, { accounts, now }, page) => listWebhookPage(em, accounts, { ...page, now }),
});
