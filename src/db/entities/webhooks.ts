import { defineEntity, p } from '@mikro-orm/core';
import type { Environment } from '../../domain/cfeTypes.ts';
import type { EventName, SelectableEvent } from '../../domain/events.ts';
import type { DeliveryStatus } from '../../domain/webhook.ts';

const WebhookSchema = defineEntity({
  name: 'Webhook',
  properties: {
    id: p.uuid().primary(),
    accountId: p.uuid(),
    url: p.text(),
    events: p.array().$type<SelectableEvent[]>(),
    /** Signs what is sent; sealed. */
    sealedSecret: p.text(),
    /** The secret before, which signs too until `previousSecretUntil`. */
    sealedPreviousSecret: p.text().strictNullable(),
    previousSecretUntil: p.datetime().strictNullable(),
    /** Whether new events are delivered; deliveries under way go on. */
    enabled: p.boolean(),
    /** Why it is not enabled, where the receiver asked for it: `gone` (410). */
    disabledReason: p.text().$type<'gone'>().strictNullable(),
    createdAt: p.datetime(),
    removedAt: p.datetime().strictNullable(),
  },
});

/** Where an account wants to be told of which events. */
export class Webhook extends WebhookSchema.class {}
WebhookSchema.setClass(Webhook);

const EventSchema = defineEntity({
  name: 'Event',
  properties: {
    id: p.uuid().primary(),
    /** The enterprise it is about: accounts with a role there may learn of it; null for `webhook.test`. */
    rut: p.text().strictNullable(),
    name: p.text().$type<EventName>(),
    environment: p.text().$type<Environment>(),
    /** The JSON that is sent, byte for byte the same at every attempt. */
    body: p.text(),
    createdAt: p.datetime(),
  },
});

/** Something that happened, in the words in which customers' servers are told of it (docs/contract.md#events). */
export class Event extends EventSchema.class {}
EventSchema.setClass(Event);

const DeliverySchema = defineEntity({
  name: 'Delivery',
  properties: {
    /** What the receiver sees as `webhook-id`, the same at every attempt. */
    id: p.uuid().primary(),
    /** Under which its workflow runs (newDeliveryWorkflowId). */
    workflowId: p.text(),
    webhookId: p.uuid(),
    eventId: p.uuid(),
    eventName: p.text().$type<EventName>(),
    status: p.text().$type<DeliveryStatus>(),
    /** Asked for again while it waited: an attempt that fails now is not its last, for a new schedule is to come. */
    askedAgain: p.boolean().default(false),
    /** When it is next tried by itself; null while it goes at once, and once it has ended. */
    nextAttemptAt: p.datetime().strictNullable(),
    createdAt: p.datetime(),
    /** When it was delivered or given up. */
    settledAt: p.datetime().strictNullable(),
  },
});

/** One event on its way to one webhook. */
export class Delivery extends DeliverySchema.class {}
DeliverySchema.setClass(Delivery);

const DeliveryAttemptSchema = defineEntity({
  name: 'DeliveryAttempt',
  properties: {
    deliveryId: p.uuid().primary(),
    number: p.integer().primary(),
    /** The execution of the activity that made it: a repeat of that execution finds what it did. */
    execution: p.text(),
    at: p.datetime(),
    httpStatus: p.integer().strictNullable(),
    /** Why there was no answer, in stable words. */
    error: p.text().strictNullable(),
    /** The start of the answer's body. */
    answer: p.text().strictNullable(),
    milliseconds: p.integer(),
  },
});

/** One attempt of a delivery, and what came of it. */
export class DeliveryAttempt extends DeliveryAttemptSchema.class {}
DeliveryAttemptSchema.setClass(DeliveryAttempt);
