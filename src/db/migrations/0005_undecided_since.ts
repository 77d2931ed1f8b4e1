import { Migration } from '@mikro-orm/migrations';

/** Since when the authority answers about a sobre without settling it. */
export class Migration0005UndecidedSince extends Migration {
  override name = '0005_undecided_since';

  override up(): void {
    this.addSql('alter table sobre add column undecided_since timestamptz');
  }
}
