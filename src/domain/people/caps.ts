/** The largest numbers of objects per account or enterprise, which an operator can change (docs/contract.md#limits). */
export interface Caps {
  /** Webhooks of an account, without removed ones. */
  readonly webhooks: number;
  /** API keys of an account, without revoked ones. */
  readonly apiKeys: number;
  /** Customers of an enterprise. */
  readonly customers: number;
  /** Enterprises of an account without a certificate: creating an enterprise claims its RUT, so claims are limited. */
  readonly unprovenEnterprises: number;
}

/** The defaults. */
export const USUAL_CAPS: Caps = { webhooks: 20, apiKeys: 50, customers: 20_000, unprovenEnterprises: 20 };
