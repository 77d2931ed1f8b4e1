import { Migration } from '@mikro-orm/migrations';

/** Webhooks, the deliveries of events to them with every attempt, and the audit. */
export class Migration0004Webhooks extends Migration {
  override name = '0004_webhooks';

  override up(): void {
    this.addSql(`
      create table webhook (
        id uuid primary key,
        account_id uuid not null references account,
        url text not null,
        events text[] not null,
        sealed_secret text not null,
        sealed_previous_secret text,
        previous_secret_until timestamptz,
        enabled boolean not null,
        disabled_reason text,
        created_at timestamptz not null,
        removed_at timestamptz,
        check ((sealed_previous_secret is null) = (previous_secret_until is null)),
        check (removed_at is null or not enabled)
      );
      create index webhook_of_account on webhook (account_id) where removed_at is null;

      alter table event alter column rut drop not null;

      create table delivery (
        id uuid primary key,
        webhook_id uuid not null references webhook,
        event_id uuid not null references event deferrable initially deferred,
        event_name text not null,
        status text not null check (status in ('PENDING', 'DELIVERED', 'FAILED')),
        created_at timestamptz not null,
        settled_at timestamptz,
        check ((status = 'PENDING') = (settled_at is null))
      );
      create index delivery_newest on delivery (created_at desc, id desc);
      create index delivery_of_webhook on delivery (webhook_id, created_at desc, id desc);
      create index delivery_failed on delivery (created_at desc, id desc) where status = 'FAILED';

      create table delivery_attempt (
        delivery_id uuid not null references delivery,
        number integer not null check (number > 0),
        execution text not null,
        at timestamptz not null,
        http_status integer,
        error text,
        answer text,
        milliseconds integer not null,
        primary key (delivery_id, number),
        unique (delivery_id, execution)
      );

      create table audit (
        id bigint generated always as identity primary key,
        at timestamptz not null,
        actor text not null,
        action text not null,
        subject text not null,
        account_id uuid,
        rut text,
        reason text
      );
      create index audit_of_enterprise on audit (rut, id) where rut is not null;
      create index audit_at on audit (at);
      create function audit_stands() returns trigger language plpgsql as $$
        begin
          raise exception 'the audit is only added to';
        end
      $$;
      create trigger audit_stands before update or delete or truncate on audit
        for each statement execute function audit_stands();
    `);
  }
}
