import { Migration } from '@mikro-orm/migrations';

/**
 * What the metrics count is a small part of large tables: CFEs without a verdict, those that wait for support,
 * deliveries that wait. Each has an index that holds nothing else, so that a scrape reads no more than that part.
 */
export class Migration0009Measures extends Migration {
  override name = '0009_measures';

  override up(): void {
    this.addSql(`
      create index cfe_open on cfe (environment, status, created_at) where settled_at is null;
      create index cfe_stuck on cfe (environment, stuck_reason) where stuck_reason is not null;
      create index delivery_waiting on delivery (created_at) where status = 'PENDING';
    `);
  }
}
