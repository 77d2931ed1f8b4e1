import { Migration } from '@mikro-orm/migrations';

/**
 * By which API key a CFE was asked for, and why a thing of a bulk run was refused, as a code beside the words. Both columns
 * are added without rewriting a row. Rows from before have neither.
 */
export class Migration0057ConsoleGaps extends Migration {
  override name = '0057_console_gaps';

  override up(): void {
    this.addSql(`
      alter table cfe add column key_id uuid;
      alter table run_item add column why jsonb;
    `);
  }
}
