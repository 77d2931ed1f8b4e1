import { defineEntity, p } from '@mikro-orm/core';
import type { Environment } from '../../domain/receipts/cfeTypes.ts';
import type { EventName, SelectableEvent } from '../../domain/webhooks/events.ts';
import type { DeliveryStatus } from '../../domain/webhooks/webhook.ts';

const WebhookSchema = defineEntity({
  name: 'Webhook',
  properties: {
    id: p.uuid().primary(),
    accountId: p.uuid(),
    url: p.text(),
    events: p.array().$type<SelectableEvent[]>(),
    /** The secret that signs events, sealed. */
    sealedSecret: p.text(),
    /** The previous secret, which also signs until `previousSecretUntil`. */
    sealedPreviousSecret: p.text().strictNullable(),
    previousSecretUntil: p.datetime().strictNullable(),
    /** Whether new events are delivered; pending deliveries continue. */
    enabled: p.boolean(),
    /** Why it is disabled, if the receiver asked for that: `gone` (410). */
    disabledReason: p.text().$type<'gone'>().strictNullable(),
    createdAt: p.datetime(),
    removedAt: p.datetime().strictNullable(),
  },
});

/** An address to which an account wants selected events. */
export class Webhook extends WebhookSchema.class {}
WebhookSchema.setClass(Webhook);

const EventSchema = defineEntity({
  name: 'Event',
  properties: {
    id: p.uuid().primary(),
    /** Its enterprise: accounts with a role there may read it; null for `webhook.test`. */
    rut: p.text().strictNullable(),
    name: p.text().$type<EventName>(),
    environment: p.text().$type<Environment>(),
    /** The JSON to send, byte for byte identical at every attempt. */
    body: p.text(),
    createdAt: p.datetime(),
  },
});

/** An event, in the form in which customers' servers receive it (docs/contract.md#events). */
export class Event extends EventSchema.class {}
EventSchema.setClass(Event);

const DeliverySchema = defineEntity({
  name: 'Delivery',
  properties: {
    /** The receiver's `webhook-id`, identical at every attempt. */
    id: p.uuid().primary(),
    /** Id of its workflow (newDeliveryWorkflowId). */
    workflowId: p.text(),
    webhookId: p.uuid(),
    eventId: p.uuid(),
    eventName: p.text().$type<EventName>(),
    status: p.text().$type<DeliveryStatus>(),
    /** Requested again while it waited: a failing attempt is not the last, as a new retry schedule follows. */
    askedAgain: p.boolean().default(false),
    /** The next automatic retry; null before the first attempt, and once it has ended. */
    nextAttemptAt: p.datetime().strictNullable(),
    createdAt: p.datetime(),
    /** When it was delivered or given up. */
    settledAt: p.datetime().strictNullable(),
  },
});

/** One event for one webhook. */
export class Delivery extends DeliverySchema.class {}
DeliverySchema.setClass(Delivery);

const DeliveryAttemptSchema = defineEntity({
  name: 'DeliveryAttempt',
  properties: {
    deliveryId: p.uuid().primary(),
    number: p.integer().primary(),
    /** The activity execution that made it: a repeated execution finds its own row. */
    execution: p.text(),
    at: p.datetime(),
    httpStatus: p.integer().strictNullable(),
    /** Why there was no response, as a stable code. */
    error: p.text().strictNullable(),
    /** The start of the response body. */
    answer: p.text().strictNullable(),
    milliseconds: p.integer(),
  },
});

/** One attempt of a delivery, and its result. */
export class DeliveryAttempt extends DeliveryAttemptSchema.class {}
DeliveryAttemptSchema.setClass(DeliveryAttempt);
