import { Migration } from '@mikro-orm/migrations';

/**
 * The authority's list of electronic issuers as it was last told, and when it was last loaded. A RUC that was asked about
 * and is none has a row without a beginning.
 */
export class Migration0039Directory extends Migration {
  override name = '0039_directory';

  override up(): void {
    this.addSql(`
      create table directory_entry (
        rut text primary key,
        name text not null,
        mail text,
        since date,
        until date,
        asked_at timestamptz,
        changed_at timestamptz not null
      );
      create table directory_load (
        only_row boolean primary key default true check (only_row),
        begun_at timestamptz not null,
        loaded_at timestamptz not null
      )`);
  }
}
