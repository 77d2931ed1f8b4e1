import { Migration } from '@mikro-orm/migrations';

/**
 * Counters of requests and of failed authentication, and what is kept for Idempotency-Keys. The counters are
 * unlogged: they cost no write to disk, and losing them in a crash of the server only begins the hour anew.
 */
export class Migration0003LimitsAndIdempotency extends Migration {
  override name = '0003_limits_and_idempotency';

  override up(): void {
    this.addSql(`
      create unlogged table request_count (
        account_id uuid not null,
        environment text not null,
        since timestamptz not null,
        requests integer not null,
        primary key (account_id, environment)
      ) with (fillfactor = 50);

      create unlogged table failed_authentication (
        address text primary key,
        since timestamptz not null,
        failures integer not null
      ) with (fillfactor = 50);
      create index failed_authentication_since on failed_authentication (since);

      create table idempotent_answer (
        account_id uuid not null references account,
        environment text not null check (environment in ('production', 'sandbox')),
        key text not null,
        hash bytea not null,
        answer text not null,
        created_at timestamptz not null,
        primary key (account_id, environment, key)
      );
      create index idempotent_answer_created_at on idempotent_answer (created_at);

      alter table cfe
        add column idempotency_key text,
        add column idempotency_hash bytea,
        add column first_answer jsonb,
        add check ((idempotency_key is null) = (idempotency_hash is null));
      create unique index cfe_idempotency_key on cfe (account_id, environment, idempotency_key)
        where idempotency_key is not null;
    `);
  }
}
