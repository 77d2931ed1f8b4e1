export const PAYMENT_STATUSES = ['PENDING', 'PAID', 'CANCELLED'] as const;
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number];

const MOVES: Readonly<Record<PaymentStatus, readonly PaymentStatus[]>> = {
  PENDING: ['PAID', 'CANCELLED'],
  PAID: [],
  CANCELLED: [],
};

/** True when a payment may change from one status to the other (docs/contract.md#plans-and-payments). */
export function paymentCanBecome(from: PaymentStatus, to: PaymentStatus): boolean {
  return MOVES[from].includes(to);
}

/** Returns the address of a payment: the configured checkout, with the payment's id as the last part of its path. */
export function checkoutUrl(base: string, paymentId: string): string {
  const url = new URL(base);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/${paymentId}`;
  return url.href;
}
