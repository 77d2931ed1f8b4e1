import { Migration } from '@mikro-orm/migrations';

/**
 * From when on enterprises are reported for. Those that are READY already begin with the day of the migration: whoever
 * reported for them before has done so until then, and what was reported must not be reported again.
 */
export class Migration0037ReportDuty extends Migration {
  override name = '0037_report_duty';

  override up(): void {
    this.addSql(`
      create table report_duty (
        rut text primary key references enterprise,
        from_date date not null,
        until_date date,
        next_date date not null
      );
      insert into report_duty (rut, from_date, next_date)
        select rut, today, today from enterprise, (select (now() at time zone 'UTC' - interval '3 hours')::date as today) as day
        where status = 'READY' or status_before_suspension = 'READY'`);
  }
}
