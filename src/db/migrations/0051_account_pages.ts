import { Migration } from '@mikro-orm/migrations';

/**
 * What members of accounts need in the console: invitations into an account, which are no invitations of the operator's; when a
 * delivery is tried next; and an index for each filter of the lists of deliveries.
 */
export class Migration0051AccountPages extends Migration {
  override name = '0051_account_pages';

  override up(): void {
    this.addSql(`
      create table account_invitation (
        id uuid primary key,
        account_id uuid not null references account,
        email text not null check (email = lower(email)),
        role text not null check (role in ('VIEWER', 'MEMBER', 'OWNER')),
        token_hash bytea not null unique,
        created_at timestamptz not null,
        expires_at timestamptz not null,
        ended_at timestamptz
      );
      create unique index account_invitation_open on account_invitation (account_id, email) where ended_at is null;
      alter table person add column password_by_account boolean not null default false;

      alter table delivery add column next_attempt_at timestamptz;
      create index delivery_rate on delivery (webhook_id, created_at desc, id desc) include (status);
      drop index delivery_of_webhook;
      create index delivery_failed_of_webhook on delivery (webhook_id, created_at desc, id desc) where status = 'FAILED';
      create index delivery_event on delivery (event_name, created_at desc, id desc);
      create index event_of_cfe on event (substring(body from '"cfe_id":[[:space:]]*"([0-9]+-[0-9]+)"'), rut, created_at)
        where name in ('cfe.updated', 'receipt.delivered', 'receipt.failed');
    `);
  }
}
