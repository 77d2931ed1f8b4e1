import type { Payment } from '../db/entities/Payment.ts';
import type { CommandDeps } from './steps/deps.ts';
import { movePayment } from './steps/movePayment.ts';

/** Marks a payment as paid; an operator's act. Refuses one that is unknown (NOT_FOUND) or not PENDING (INVALID_INPUT). */
export function settlePayment(deps: CommandDeps, input: { paymentId: string }): Promise<Payment> {
  return movePayment(deps, input.paymentId, 'PAID');
}
