import { Migration } from '@mikro-orm/migrations';

/** A name for a customer that says nothing of the person: the audit holds no documents. */
export class Migration0010CustomerId extends Migration {
  override name = '0010_customer_id';

  override up(): void {
    // The default serves processes of the version before, while they still run.
    this.addSql('alter table customer add column id uuid not null unique default gen_random_uuid()');
  }
}
