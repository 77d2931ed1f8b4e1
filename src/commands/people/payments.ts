import type { Payment, Plan } from '../../db/entities/enterprises.ts';
import { listPlans, lockPayment, putPlans } from '../../db/people/payments.ts';
import { PlanList, readRows } from '../../domain/operations/operatorFiles.ts';
import { type PaymentStatus, paymentCanBecome } from '../../domain/people/payment.ts';
import { amountText } from '../../domain/values/decimal.ts';
import { Refusal } from '../../errors.ts';
import { auditAct } from '../steps/auditAct.ts';
import type { CommandDeps } from '../steps/deps.ts';

/**
 * Changes the status of a payment. Throws NOT_FOUND for an unknown one, INVALID_INPUT for a move that is not
 * allowed.
 */
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
    auditAct(deps, em, { action, subject: paymentId, rut: payment.rut }, now);
    return payment;
  });
}

/**
 * Marks a payment as paid. Operators only. Throws NOT_FOUND for an unknown payment, INVALID_INPUT unless
 * PENDING.
 */
export function settlePayment(deps: CommandDeps, input: { paymentId: string }): Promise<Payment> {
  return movePayment(deps, input.paymentId, 'PAID');
}

/**
 * Cancels a payment. Operators only. Throws NOT_FOUND for an unknown payment, INVALID_INPUT unless PENDING.
 */
export function cancelPayment(deps: CommandDeps, input: { paymentId: string }): Promise<Payment> {
  return movePayment(deps, input.paymentId, 'CANCELLED');
}

/**
 * Loads plans from a JSON list of {plan_id, frequency_id, amount, currency}, each replacing the one with the
 * same ids; enterprises keep the plan they have. Operators only. Returns all plans on sale. Throws
 * INVALID_INPUT with all faults of the file.
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
    auditAct(deps, em, { action: 'plan.load', subject }, deps.clock());
    return listPlans(em);
  });
}
