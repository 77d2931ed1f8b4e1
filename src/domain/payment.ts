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

/** Where a payment is made: the configured checkout with the payment's id as the last part of its path. */
export function checkoutUrl(base: string, paymentId: string): string {
  const url = new URL(base);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/${paymentId}`;
  return url.href;
}
