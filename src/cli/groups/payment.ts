import * as z from 'zod';
import { cancelPayment } from '../../commands/cancelPayment.ts';
import { settlePayment } from '../../commands/settlePayment.ts';
import type { Payment } from '../../db/entities/Payment.ts';
import { listPayments } from '../../db/payments.ts';
import { exactNumber } from '../../domain/exactNumber.ts';
import { Rut } from '../../domain/rut.ts';
import { defineVerb, type Group } from '../verb.ts';

const ARGS = { PAYMENT: 'id of the payment' };
const EXAMPLES = ['7f0c2a2e-6f0b-4d53-9d7e-2f1f0a6f3f11'];
const row = (payment: Payment) => ({
  payment_id: payment.id,
  enterprise_rut: payment.rut,
  plan_id: payment.planId,
  frequency_id: payment.frequencyId,
  amount: exactNumber(payment.amount),
  currency: payment.currency,
  status: payment.status,
  redirect_url: payment.redirectUrl,
  created_at: payment.createdAt.toISOString(),
  settled_at: payment.settledAt?.toISOString() ?? null,
});

const list = defineVerb({
  name: 'list',
  summary: 'List payments, newest first: all, or those of one enterprise',
  reads: true,
  options: [{ flags: '--rut <rut>', about: 'only payments of this enterprise' }],
  examples: ['', '--rut 219999830019'],
  input: z.strictObject({ rut: Rut.optional() }),
  async run({ orm }, { rut }) {
    return (await listPayments(orm.em.fork(), { rut })).map(row);
  },
});

const settle = defineVerb({
  name: 'settle',
  summary: 'Mark a payment as paid',
  args: ARGS,
  examples: EXAMPLES,
  input: z.strictObject({ payment: z.string() }),
  async run(deps, { payment: paymentId }) {
    return row(await settlePayment(deps, { paymentId }));
  },
});

const cancel = defineVerb({
  name: 'cancel',
  summary: 'Cancel a payment',
  args: ARGS,
  examples: EXAMPLES,
  input: z.strictObject({ payment: z.string() }),
  async run(deps, { payment: paymentId }) {
    return row(await cancelPayment(deps, { paymentId }));
  },
});

/** `cfe payment`: what enterprises owe for their plans. */
export const payment: Group = {
  name: 'payment',
  summary: 'What enterprises owe for their plans',
  verbs: [list, settle, cancel],
};
