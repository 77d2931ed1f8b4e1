import type { Payment } from '../db/entities/Payment.ts';
import type { CommandDeps } from './steps/deps.ts';
import { movePayment } from './steps/movePayment.ts';

/** Gives up a payment; an operator's act. Refuses one that is unknown (NOT_FOUND) or not PENDING (INVALID_INPUT). */
export function cancelPayment(deps: CommandDeps, input: { paymentId: string }): Promise<Payment> {
  return movePayment(deps, input.paymentId, 'CANCELLED');
}
