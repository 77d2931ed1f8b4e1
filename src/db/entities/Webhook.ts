import { defineEntity, p } from '@mikro-orm/core';
import type { SelectableEvent } from '../../domain/webhook.ts';

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
