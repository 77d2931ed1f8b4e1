import { Migration } from '@mikro-orm/migrations';

/** Up to when an enterprise's webhooks know which of its papers have expired. */
export class Migration0006ExpiriesTold extends Migration {
  override name = '0006_expiries_told';

  override up(): void {
    this.addSql('alter table enterprise add column expiries_told_at timestamptz');
  }
}
