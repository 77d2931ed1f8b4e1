import { Migration } from '@mikro-orm/migrations';

/** The reports of days, and each file that was sent as one. */
export class Migration0036DailyReports extends Migration {
  override name = '0036_daily_reports';

  override up(): void {
    this.addSql(`
      create table daily_report (
        rut text not null references enterprise,
        environment text not null check (environment in ('production', 'sandbox')),
        date date not null,
        status text not null check (status in
          ('OPEN', 'SENT', 'RECEIVED', 'CONSISTENT', 'DIFFERS', 'SUPERSEDED', 'REFUSED')),
        sequence integer check (sequence between 1 and 99),
        due_at timestamptz not null,
        workflow_id text not null,
        started_at timestamptz,
        send_now boolean not null default false,
        is_complete boolean not null default false,
        accepted_as_is boolean not null default false,
        next_sequence integer,
        looked_at timestamptz,
        stuck_reason text,
        undecided_since timestamptz,
        created_at timestamptz not null,
        primary key (rut, environment, date)
      );
      create index daily_report_open on daily_report (rut, date)
        where environment = 'production' and status in ('OPEN', 'SENT', 'REFUSED');
      create index daily_report_unsettled on daily_report (date, status)
        where environment = 'production' and status <> 'CONSISTENT';
      create index daily_report_incomplete on daily_report (date, rut) where not is_complete;
      create index daily_report_stuck on daily_report (environment, stuck_reason) where stuck_reason is not null;

      create table report_submission (
        id bigint generated always as identity primary key,
        rut text not null,
        environment text not null,
        date date not null,
        sequence integer not null check (sequence between 1 and 99),
        id_emisor bigint not null check (id_emisor between 1 and 9999999999),
        status text not null check (status in
          ('PREPARED', 'SENT', 'RECEIVED', 'CONSISTENT', 'DIFFERS', 'SUPERSEDED', 'REFUSED')),
        xml text not null,
        content_hash text not null,
        types jsonb not null,
        sent_at timestamptz,
        answered_at timestamptz,
        authority_id text,
        reasons jsonb,
        created_at timestamptz not null,
        foreign key (rut, environment, date) references daily_report,
        unique (rut, environment, id_emisor)
      );
      -- A refused one does not use its sequence up; nothing else is ever under way beside it.
      create unique index report_submission_sequence on report_submission (rut, environment, date, sequence)
        where status <> 'REFUSED';
      create index report_submission_day on report_submission (rut, environment, date)`);
  }
}
