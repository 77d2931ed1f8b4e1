import { defineEntity, p } from '@mikro-orm/core';
import type { PaymentStatus } from '../../domain/paymentStatus.ts';

const PaymentSchema = defineEntity({
  name: 'Payment',
  properties: {
    id: p.uuid().primary(),
    rut: p.text(),
    planId: p.text(),
    frequencyId: p.text(),
    /** What the plan cost when it was chosen. */
    amount: p.decimal(),
    currency: p.text(),
    status: p.text().$type<PaymentStatus>(),
    /** Where the customer pays. */
    redirectUrl: p.text(),
    createdAt: p.datetime(),
    /** When it was paid or cancelled. */
    settledAt: p.datetime().strictNullable(),
  },
});

/** What an enterprise owes for a plan (docs/contract.md#plans-and-payments). */
export class Payment extends PaymentSchema.class {}
PaymentSchema.setClass(Payment);
