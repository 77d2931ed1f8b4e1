/** How many of a kind an account, or an enterprise, may have; what an operator may change (docs/contract.md#limits). */
export interface Caps {
  /** Webhooks of an account, removed ones aside. */
  readonly webhooks: number;
  /** API keys of an account, revoked ones aside. */
  readonly apiKeys: number;
  /** Customers of an enterprise. */
  readonly customers: number;
  /** Enterprises of an account that have no certificate: whoever names a RUT owns it, so nobody may name them all. */
  readonly unprovenEnterprises: number;
}

/** What holds unless an operator says otherwise. */
export const USUAL_CAPS: Caps = { webhooks: 20, apiKeys: 50, customers: 20_000, unprovenEnterprises: 20 };
