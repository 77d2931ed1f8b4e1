import { Migration } from '@mikro-orm/migrations';

/**
 * The token in the address of each CFE's receipt page: 128 random bits in base64url. Those of two random UUIDs (244) are
 * hashed to as many. The database makes it, so that rows of the version before have one, and those that it goes on to
 * insert.
 */
export class Migration0038ReceiptTokens extends Migration {
  override name = '0038_receipt_tokens';

  override up(): void {
    this.addSql(`
      create function new_receipt_token() returns text language sql volatile as $$
        select rtrim(translate(encode(substr(sha256(
          uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())), 1, 16), 'base64'), '+/', '-_'), '=');
      $$;
      alter table cfe add column receipt_token text not null default new_receipt_token();
      create unique index cfe_receipt_token on cfe (receipt_token)`);
  }
}
