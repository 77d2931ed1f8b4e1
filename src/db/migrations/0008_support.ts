import { Migration } from '@mikro-orm/migrations';

/** What came of an act of support, and which request asked for it: an activity that runs twice writes one row. */
export class Migration0008Support extends Migration {
  override name = '0008_support';

  override up(): void {
    this.addSql(`
      alter table audit add column outcome text, add column request_id text;
      create unique index audit_of_request on audit (request_id) where request_id is not null;
    `);
  }
}
