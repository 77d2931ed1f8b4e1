import { Migration0001Start } from './0001_start.ts';
import { Migration0002CustomersAndPayments } from './0002_customers_and_payments.ts';
import { Migration0003LimitsAndIdempotency } from './0003_limits_and_idempotency.ts';
import { Migration0004Webhooks } from './0004_webhooks.ts';
import { Migration0005UndecidedSince } from './0005_undecided_since.ts';
import { Migration0006ExpiriesTold } from './0006_expiries_told.ts';

/** All migrations in order. A migration that has run anywhere is never changed; changes come as a new one. */
export const MIGRATIONS = [
  { name: '0001_start', class: Migration0001Start },
  { name: '0002_customers_and_payments', class: Migration0002CustomersAndPayments },
  { name: '0003_limits_and_idempotency', class: Migration0003LimitsAndIdempotency },
  { name: '0004_webhooks', class: Migration0004Webhooks },
  { name: '0005_undecided_since', class: Migration0005UndecidedSince },
  { name: '0006_expiries_told', class: Migration0006ExpiriesTold },
];
