import type { Payment, Plan } from '../db/entities/enterprises.ts';
import { listPlans, lockPayment, putPlans } from '../db/payments.ts';
import { amountText } from '../domain/decimal.ts';
import { PlanList, readRows } from '../domain/operatorFiles.ts';
import { type PaymentStatus, paymentCanBecome } from '../domain/payment.ts';
import { Refusal } from '../errors.ts';
import { audited } from './steps/audited.ts';
import type { CommandDeps } from './steps/deps.ts';

/** Gives a payment another status. Refuses an unknown one (NOT_FOUND), and a move that is none (INVALID_INPUT). */
function movePayment(deps: CommandDeps, paymentId: string, to: PaymentStatus): Promise<Payment> {
  return deps.orm.em.fork().transactional(async (em) => {
    const payment = await lockPayment(em, paymentId);
    if (!payment) throw new Refusal('NOT_FOUND', `There is no payment ${paymentId}.`);
    if (!paymentCanBecome(payment.status, to)) {
      throw new Refusal(
        'INVALID_INPUT',
        `The payment ${paymentId} is ${payment.status}; only a PENDING payment can become ${to}.`,
      );
    }
    payment.status = to;
    const now = deps.clock();
    payment.settledAt = now;
    const action = to === 'PAID' ? 'payment.settle' : 'payment.cancel';
    audited(deps, em, { action, subject: paymentId, rut: payment.rut }, now);
    return payment;
  });
}

/** Marks a payment as paid; an operator's act. Refuses one that is unknown (NOT_FOUND) or not PENDING (INVALID_INPUT). */
export function settlePayment(deps: CommandDeps, input: { paymentId: string }): Promise<Payment> {
  return movePayment(deps, input.paymentId, 'PAID');
}

/** Gives up a payment; an operator's act. Refuses one that is unknown (NOT_FOUND) or not PENDING (INVALID_INPUT). */
export function cancelPayment(deps: CommandDeps, input: { paymentId: string }): Promise<Payment> {
  return movePayment(deps, input.paymentId, 'CANCELLED');
}

/**
 * Puts plans on sale from a file: a JSON list of {plan_id, frequency_id, amount, currency}, each in place of the one of
 * the same names; others stay as they are, and so do enterprises that have one. An operator's act. Answers all that
 * are on sale. Refuses a file with faults, all at once (INVALID_INPUT).
 */
export async function loadPlans(deps: CommandDeps, input: { file: string }): Promise<Plan[]> {
  const rows = readRows(PlanList, input.file);
  return deps.orm.em.fork().transactional(async (em) => {
    await putPlans(
      em,
      rows.map(({ plan_id: planId, frequency_id: frequencyId, amount, currency }) => ({
        planId,
        frequencyId,
        amount: amountText(amount),
        currency,
      })),
    );
    const subject = rows.map((row) => `${row.plan_id}/${row.frequency_id}`).join(' ');
    audited(deps, em, { action: 'plan.load', subject }, deps.clock());
    return listPlans(em);
  });
}
