/** Where a payment is made: the configured checkout with the payment's id as the last part of its path. */
export function checkoutUrl(base: string, paymentId: string): string {
  const url = new URL(base);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/${paymentId}`;
  return url.href;
}
