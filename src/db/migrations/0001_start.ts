import { Migration } from '@mikro-orm/migrations';

/** Accounts, enterprises and their papers, CFEs with their sobres, and the outbox. */
export class Migration0001Start extends Migration {
  override name = '0001_start';

  override up(): void {
    this.addSql(`
      create table account (
        id uuid primary key,
        name text not null,
        email text not null,
        is_developer boolean not null,
        created_at timestamptz not null
      );

      create table api_key (
        id uuid primary key,
        public_id text not null unique,
        account_id uuid not null references account,
        environment text not null check (environment in ('production', 'sandbox')),
        hash bytea not null,
        label text,
        created_at timestamptz not null,
        last_used_at timestamptz,
        revoked_at timestamptz
      );
      create index api_key_account on api_key (account_id);

      create table plan (
        plan_id text not null,
        frequency_id text not null,
        amount numeric(17, 2) not null check (amount >= 0),
        currency text not null,
        primary key (plan_id, frequency_id)
      );
      insert into plan values
        ('FREE', 'MONTHLY', 0, 'UYU'),
        ('STANDARD', 'MONTHLY', 990, 'UYU'),
        ('STANDARD', 'YEARLY', 9900, 'UYU');

      create table enterprise (
        rut text primary key check (rut ~ '^[0-9]{12}$'),
        owner_account_id uuid not null references account,
        legal_name text not null,
        trade_name text,
        department_name text not null,
        locality_name text not null,
        street_name text not null,
        branch integer not null,
        phone_number text,
        is_new_enterprise boolean not null,
        status text not null check (status in ('PENDING', 'READY', 'SUSPENDED')),
        status_before_suspension text check (status_before_suspension in ('PENDING', 'READY')),
        scheduled_ready_date timestamptz,
        plan_id text,
        frequency_id text,
        efactura_status text not null check (efactura_status in ('NOT_VALIDATED', 'VALIDATING', 'VALID', 'INVALID')),
        login_status text not null check (login_status in ('NOT_ATTEMPTED', 'SUCCESS', 'FAILED')),
        permissions text[] not null,
        last_validated_at timestamptz,
        sealed_login text,
        created_at timestamptz not null,
        foreign key (plan_id, frequency_id) references plan,
        check ((status = 'SUSPENDED') = (status_before_suspension is not null))
      );
      create index enterprise_owner on enterprise (owner_account_id);

      create table certificate (
        id uuid primary key,
        rut text not null references enterprise,
        environment text not null check (environment in ('production', 'sandbox')),
        subject text not null,
        not_before timestamptz not null,
        not_after timestamptz not null,
        certificate bytea not null,
        sealed_key text not null,
        created_at timestamptz not null,
        replaced_at timestamptz
      );
      create unique index certificate_current on certificate (rut, environment) where replaced_at is null;

      create table authority_certificate (
        fingerprint text primary key,
        certificate bytea not null,
        subject text not null,
        not_before timestamptz not null,
        not_after timestamptz not null,
        added_at timestamptz not null
      );

      create table cae (
        id uuid primary key,
        rut text not null references enterprise,
        environment text not null check (environment in ('production', 'sandbox')),
        type text not null,
        series text not null,
        number_start integer not null check (number_start between 1 and 9999999),
        number_end integer not null check (number_end between number_start and 9999999),
        last_number integer not null check (last_number between number_start - 1 and number_end),
        authorization_number text not null,
        issue_date date not null,
        expiration_date date not null check (expiration_date >= issue_date),
        special_kind integer check (special_kind = 1),
        special_cause text,
        xml text not null,
        created_at timestamptz not null,
        unique (rut, environment, authorization_number)
      );
      create extension if not exists btree_gist;
      alter table cae add constraint cae_ranges_do_not_overlap exclude using gist
        (rut with =, environment with =, type with =, series with =, int4range(number_start, number_end, '[]') with &&);

      create table cfe_sequence (
        rut text not null references enterprise,
        environment text not null,
        type text not null,
        last integer not null,
        primary key (rut, environment, type)
      );

      create table cfe (
        id uuid primary key,
        account_id uuid not null references account,
        rut text not null references enterprise,
        environment text not null check (environment in ('production', 'sandbox')),
        type text not null,
        sequence integer not null,
        cae_id uuid not null references cae,
        serie text not null,
        numero integer not null,
        status text not null check (status in ('PENDING', 'RECEIVED', 'ACCEPTED', 'REJECTED', 'OBSERVED')),
        emission_date date not null,
        currency text not null,
        pay_amount numeric(17, 2) not null,
        document jsonb not null,
        reference_id uuid references cfe,
        reference_amount numeric(17, 2),
        certificate_id uuid not null references certificate,
        signed_xml text,
        digest text,
        rejection jsonb,
        stuck_reason text,
        extra jsonb,
        created_at timestamptz not null,
        settled_at timestamptz,
        unique (rut, environment, type, sequence),
        unique (rut, environment, type, serie, numero),
        check ((signed_xml is null) = (digest is null)),
        check ((settled_at is not null) = (status in ('ACCEPTED', 'REJECTED', 'OBSERVED')))
      );
      create index cfe_newest on cfe (rut, environment, created_at desc, id desc);
      create index cfe_notes on cfe (reference_id) where reference_id is not null;

      create table sobre_sequence (
        rut text not null references enterprise,
        environment text not null,
        last bigint not null,
        primary key (rut, environment)
      );

      create table sobre (
        id uuid primary key,
        cfe_id uuid not null references cfe,
        rut text not null references enterprise,
        environment text not null,
        idemisor bigint not null check (idemisor between 0 and 9999999999),
        state text not null check (state in ('PREPARED', 'SENDING', 'RECEIVED', 'REFUSED')),
        xml text not null,
        sending_at timestamptz,
        received_at timestamptz,
        id_receptor text,
        token text,
        ask_from timestamptz,
        refusal jsonb,
        created_at timestamptz not null,
        unique (rut, environment, idemisor)
      );
      create unique index sobre_under_way on sobre (cfe_id) where state <> 'REFUSED';

      create table outbox (
        id bigint generated always as identity primary key,
        workflow text not null,
        workflow_id text not null,
        input jsonb not null,
        signal text,
        search_attributes jsonb not null,
        created_at timestamptz not null,
        dispatched_at timestamptz,
        attempts integer not null,
        not_before timestamptz not null
      );
      create index outbox_waiting on outbox (id) where dispatched_at is null;

      create table ui_value (
        year integer primary key,
        value numeric(12, 4) not null check (value > 0),
        source text not null,
        estimate boolean not null
      );
      insert into ui_value values
        (2026, 6.4208, 'INE, value of 2025-12-22, quoted by El País', true);
    `);
  }
}
