import { Migration } from '@mikro-orm/migrations';

/** Filters of the console's lists that people keep for themselves. */
export class Migration0044SavedFilters extends Migration {
  override name = '0044_saved_filters';

  override up(): void {
    this.addSql(`
      create table saved_filter (
        id uuid primary key,
        person_id uuid not null references person,
        path text not null,
        name text not null,
        query text not null,
        created_at timestamptz not null,
        unique (person_id, path, name)
      );
    `);
  }
}
