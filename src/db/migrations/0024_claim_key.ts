import { Migration } from '@mikro-orm/migrations';

/**
 * How the statement that stores a CFE takes the Idempotency-Key of its request: by the same lock as requests that take
 * it in a transaction of several statements, and within the same two seconds. What a volatile function reads after the
 * lock is as of then, not as of the beginning of the statement that calls it.
 */
export class Migration0024ClaimKey extends Migration {
  override name = '0024_claim_key';

  override up(): void {
    this.addSql(`
      create function claim_idempotency_key(
        lock_name text, of_account uuid, of_environment text, of_key text, kept_since timestamptz
      ) returns boolean language sql volatile set lock_timeout = '2s' as $$
        select pg_advisory_xact_lock(hashtextextended(lock_name, 0));
        select not exists (
          select from idempotent_answer
          where account_id = of_account and environment = of_environment and key = of_key and created_at > kept_since);
      $$`);
  }
}
