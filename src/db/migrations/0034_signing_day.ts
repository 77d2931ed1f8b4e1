import { Migration } from '@mikro-orm/migrations';

/**
 * CFEs by the day of their signature in Montevideo, for the daily report. That day stands in the document alone, whose
 * moment is written with Montevideo's offset; `created_at` is the same moment but for CFEs that were signed anew.
 */
export class Migration0034SigningDay extends Migration {
  override name = '0034_signing_day';

  override up(): void {
    this.addSql(
      `create index cfe_signing_day on cfe (rut, environment, (left(document ->> 'signedAt', 10)))`,
    );
  }
}
