import type { Payment } from '../db/entities/enterprises.ts';
import { lockPayment } from '../db/payments.ts';
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
