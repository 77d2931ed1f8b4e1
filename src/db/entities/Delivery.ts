import { defineEntity, p } from '@mikro-orm/core';
import type { DeliveryStatus } from '../../domain/webhook.ts';
import type { WebhookEvent } from '../../domain/webhookEvents.ts';

const DeliverySchema = defineEntity({
  name: 'Delivery',
  properties: {
    /** What the receiver sees as `webhook-id`, the same at every attempt. */
    id: p.uuid().primary(),
    /** Under which its workflow runs: what it is today is told by newDeliveryWorkflowId, older rows hold older forms. */
    workflowId: p.text(),
    webhookId: p.uuid(),
    eventId: p.uuid(),
    eventName: p.text().$type<WebhookEvent['name']>(),
    status: p.text().$type<DeliveryStatus>(),
    /** Asked for again while it waited: an attempt that fails now is not its last, for a new schedule is to come. */
    askedAgain: p.boolean().default(false),
    /** When it is next tried by itself; null at once, once it has ended, and for rows of the version before. */
    nextAttemptAt: p.datetime().strictNullable(),
    createdAt: p.datetime(),
    /** When it was delivered or given up. */
    settledAt: p.datetime().strictNullable(),
  },
});

/** One event on its way to one webhook. */
export class Delivery extends DeliverySchema.class {}
DeliverySchema.setClass(Delivery);
