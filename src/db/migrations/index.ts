import { Migration0001Start } from './0001_start.ts';
import { Migration0002CustomersAndPayments } from './0002_customers_and_payments.ts';
import { Migration0003LimitsAndIdempotency } from './0003_limits_and_idempotency.ts';
import { Migration0004Webhooks } from './0004_webhooks.ts';
import { Migration0005UndecidedSince } from './0005_undecided_since.ts';
import { Migration0006ExpiriesTold } from './0006_expiries_told.ts';
import { Migration0007AuthorityTurns } from './0007_authority_turns.ts';
import { Migration0008Support } from './0008_support.ts';
import { Migration0009Measures } from './0009_measures.ts';
import { Migration0010CustomerId } from './0010_customer_id.ts';
import { Migration0011SkippedPlaces } from './0011_skipped_places.ts';
import { Migration0012WorkflowIds } from './0012_workflow_ids.ts';
import { Migration0015AuthorityEnvironment } from './0015_authority_environment.ts';
import { Migration0016CredentialsChecks } from './0016_credentials_checks.ts';
import { Migration0019Traces } from './0019_traces.ts';
import { Migration0020Retention } from './0020_retention.ts';
import { Migration0024ClaimKey } from './0024_claim_key.ts';
import { Migration0030EnterpriseData } from './0030_enterprise_data.ts';
import { Migration0031Warnings } from './0031_warnings.ts';
import { Migration0032NoteWaits } from './0032_note_waits.ts';
import { Migration0033Annulments } from './0033_annulments.ts';
import { Migration0041Mail } from './0041_mail.ts';

/** All migrations in order. A migration that has run anywhere is never changed; changes come as a new one. */
export const MIGRATIONS = [
  { name: '0001_start', class: Migration0001Start },
  { name: '0002_customers_and_payments', class: Migration0002CustomersAndPayments },
  { name: '0003_limits_and_idempotency', class: Migration0003LimitsAndIdempotency },
  { name: '0004_webhooks', class: Migration0004Webhooks },
  { name: '0005_undecided_since', class: Migration0005UndecidedSince },
  { name: '0006_expiries_told', class: Migration0006ExpiriesTold },
  { name: '0007_authority_turns', class: Migration0007AuthorityTurns },
  { name: '0008_support', class: Migration0008Support },
  { name: '0009_measures', class: Migration0009Measures },
  { name: '0010_customer_id', class: Migration0010CustomerId },
  { name: '0011_skipped_places', class: Migration0011SkippedPlaces },
  { name: '0012_workflow_ids', class: Migration0012WorkflowIds },
  { name: '0015_authority_environment', class: Migration0015AuthorityEnvironment },
  { name: '0016_credentials_checks', class: Migration0016CredentialsChecks },
  { name: '0019_traces', class: Migration0019Traces },
  { name: '0020_retention', class: Migration0020Retention },
  { name: '0024_claim_key', class: Migration0024ClaimKey },
  { name: '0030_enterprise_data', class: Migration0030EnterpriseData },
  { name: '0031_warnings', class: Migration0031Warnings },
  { name: '0032_note_waits', class: Migration0032NoteWaits },
  { name: '0033_annulments', class: Migration0033Annulments },
  { name: '0041_mail', class: Migration0041Mail },
];
