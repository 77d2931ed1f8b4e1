import type { Payment } from '../../db/entities/Payment.ts';
import { lockPayment } from '../../db/payments.ts';
import { type PaymentStatus, paymentCanBecome } from '../../domain/paymentStatus.ts';
import { Refusal } from '../../errors.ts';
import { audited } from './audited.ts';
import type { CommandDeps } from './deps.ts';

/** Gives a payment another status. Refuses an unknown one (NOT_FOUND), and a move that is none (INVALID_INPUT). */
export function movePayment(deps: CommandDeps, paymentId: string, to: PaymentStatus): Promise<Payment> {
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
