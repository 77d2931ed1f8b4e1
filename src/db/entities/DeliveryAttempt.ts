import { defineEntity, p } from '@mikro-orm/core';

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
