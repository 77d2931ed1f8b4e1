import { Migration } from '@mikro-orm/migrations';

/** People who sign in to the console: what they are, their invitations, their sessions, and attempts that are counted. */
export class Migration0043People extends Migration {
  override name = '0043_people';

  override up(): void {
    this.addSql(`
      create table person (
        id uuid primary key,
        email text not null unique check (email = lower(email)),
        operator_role text check (operator_role in ('VIEWER', 'SUPPORT', 'ADMIN')),
        password_hash text,
        sealed_totp text,
        totp_step bigint,
        oidc_subject text unique,
        created_at timestamptz not null,
        disabled_at timestamptz
      );

      create table membership (
        person_id uuid not null references person,
        account_id uuid not null references account,
        role text not null check (role in ('VIEWER', 'MEMBER', 'OWNER')),
        created_at timestamptz not null,
        primary key (person_id, account_id)
      );
      create index membership_of_account on membership (account_id);

      create table invitation (
        id uuid primary key,
        person_id uuid not null references person,
        token_hash bytea not null unique,
        created_at timestamptz not null,
        expires_at timestamptz not null,
        ended_at timestamptz
      );
      create index invitation_open on invitation (person_id) where ended_at is null;

      create table console_session (
        id uuid primary key,
        token_hash bytea not null unique,
        person_id uuid not null references person,
        method text not null check (method in ('password', 'oidc')),
        complete boolean not null,
        address text not null,
        browser text not null,
        created_at timestamptz not null,
        seen_at timestamptz not null,
        ended_at timestamptz
      );
      create index console_session_of_person on console_session (person_id, created_at desc);

      create table sign_in_count (
        place text primary key,
        since timestamptz not null,
        attempts integer not null
      );
      create index sign_in_count_since on sign_in_count (since);
    `);
  }
}
