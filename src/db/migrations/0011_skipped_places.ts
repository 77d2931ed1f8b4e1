import { Migration } from '@mikro-orm/migrations';

/** How many places of a sequence of CFEs were passed over after a restore: no CFE stands there. */
export class Migration0011SkippedPlaces extends Migration {
  override name = '0011_skipped_places';

  override up(): void {
    this.addSql('alter table cfe_sequence add column skipped integer not null default 0');
  }
}
