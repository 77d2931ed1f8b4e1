import { Migration } from '@mikro-orm/migrations';

/** What enterprises were warned of, so that each warning is given once. */
export class Migration0031Warnings extends Migration {
  override name = '0031_warnings';

  override up(): void {
    this.addSql(`
      create table warning (
        rut text not null references enterprise,
        about text not null,
        given_at timestamptz not null,
        primary key (rut, about)
      )`);
  }
}
