import { Migration } from '@mikro-orm/migrations';

/** The order of the console's list of reports: the latest day first, of all enterprises. */
export class Migration0052ConsoleReports extends Migration {
  override name = '0052_console_reports';

  override up(): void {
    this.addSql('create index daily_report_newest on daily_report (date desc, rut, environment)');
  }
}
