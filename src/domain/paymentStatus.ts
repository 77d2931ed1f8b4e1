export const PAYMENT_STATUSES = ['PENDING', 'PAID', 'CANCELLED'] as const;
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number];

const MOVES: Readonly<Record<PaymentStatus, readonly PaymentStatus[]>> = {
  PENDING: ['PAID', 'CANCELLED'],
  PAID: [],
  CANCELLED: [],
};

/** Whether a payment may go from one status to the other (docs/contract.md#plans-and-payments). */
export function paymentCanBecome(from: PaymentStatus, to: PaymentStatus): boolean {
  return MOVES[from].includes(to);
}
