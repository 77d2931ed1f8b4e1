import { Migration } from '@mikro-orm/migrations';

/** Customers, payments, events for customers' servers, what accounts may do at others' enterprises, hourly limits. */
export class Migration0002CustomersAndPayments extends Migration {
  override name = '0002_customers_and_payments';

  override up(): void {
    this.addSql(`
      create table customer (
        rut text not null references enterprise,
        doc_type text not null check (doc_type in ('RUC', 'NIFE')),
        doc_number text not null,
        legal_name text not null,
        legal_name_search text collate "C" not null,
        fiscal_address text,
        city text,
        department text,
        country text,
        country_code text,
        notifications jsonb not null,
        created_at timestamptz not null,
        updated_at timestamptz not null,
        primary key (rut, doc_number, doc_type)
      );
      create extension if not exists pg_trgm;
      create extension if not exists btree_gin;
      create index customer_name_part on customer using gin (rut, legal_name_search gin_trgm_ops);
      create index customer_by_name on customer (rut, legal_name_search, doc_number, doc_type);
      create index customer_by_country on customer (rut, country_code, legal_name_search);

      create table payment (
        id uuid primary key,
        rut text not null references enterprise,
        plan_id text not null,
        frequency_id text not null,
        amount numeric(17, 2) not null check (amount > 0),
        currency text not null,
        status text not null check (status in ('PENDING', 'PAID', 'CANCELLED')),
        redirect_url text not null,
        created_at timestamptz not null,
        settled_at timestamptz,
        check ((status = 'PENDING') = (settled_at is null))
      );
      create index payment_newest on payment (created_at desc, id desc);
      create index payment_of_enterprise on payment (rut, created_at desc, id desc);

      create table event (
        id uuid primary key,
        rut text not null references enterprise,
        name text not null,
        environment text not null check (environment in ('production', 'sandbox')),
        body text not null,
        created_at timestamptz not null
      );
      create index event_of_enterprise on event (rut, created_at, id);

      create table enterprise_grant (
        account_id uuid not null references account,
        rut text not null references enterprise,
        role text not null check (role in ('MEMBER', 'VIEWER')),
        primary key (account_id, rut)
      );
      create index enterprise_grant_rut on enterprise_grant (rut);

      alter table enterprise add column suspension_reason text;

      create table rate_limit (
        account_id uuid not null references account,
        environment text not null check (environment in ('production', 'sandbox')),
        per_hour integer not null check (per_hour > 0),
        primary key (account_id, environment)
      );
    `);
  }
}
